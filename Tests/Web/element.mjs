// Elements without a browser.

/** An element that knows its name, attributes and children. */
export class Element {
  constructor(tag) { Object.assign(this, { tag, attributes: {}, children: [] }); }
  setAttribute(name, value) { this.attributes[name] = value; }
  append(...children) { this.children.push(...children); }
  toString() {
    const attributes = Object.entries(this.attributes).map(([name, value]) => ` ${name}="${value}"`).join("");
    return `<${this.tag}${attributes}>${this.children.map(String).join("")}</${this.tag}>`;
  }
}
globalThis.document = { createElement: (tag) => new Element(tag), querySelectorAll: () => [], getElementById: () => null };
