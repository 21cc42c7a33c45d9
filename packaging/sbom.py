"""Writes the software bill of materials of a release (CycloneDX 1.5), and checks the licences. Usage: sbom.py OUTPUT [AISLE]

The components are the Swift packages of Package.resolved, the software that their notices name, the Swift runtime, and the Debian
libraries that are linked statically or that AISLE (.build/release/aisle) needs. An unknown licence, or one that licenses.allow does not
list, is an error. Packages that are not linked into the release, such as those for tests, have the scope "excluded".
"""
import glob, hashlib, json, os, re, shutil, subprocess, sys, time, uuid

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CHECKOUTS = f"{ROOT}/.build/checkouts"
# Parts of licence texts, the first that matches decides. Spaces and line breaks are equivalent.
TEXTS = [
    ("Apache-2.0 WITH Swift-exception", r"Apache License.*Runtime Library Exception"),
    ("Apache-2.0", r"Apache License Version 2\.0, January 2004"),
    ("MIT", r"Permission is hereby granted, free of charge, to any person"),
    ("ISC", r"Permission to use, copy, modify, and/or distribute this software for any purpose"),
    ("BSD-3-Clause", r"Redistribution and use in source and binary forms.*Neither the name"),
    ("BSD-2-Clause", r"Redistribution and use in source and binary forms"),
]
# Names of licences in notices.
NAMES = {
    "Apache License 2.0": "Apache-2.0", "BSD-3": "BSD-3-Clause", "Combination ISC and OpenSSL license": "ISC AND OpenSSL", "ISC": "ISC",
    "MIT": "MIT", "zlib License": "Zlib",
}
# Components that packages contain without a notice: the folder, name, homepage and licence.
CONTAINED = {
    "swift-crypto": [
        ("Sources/CCryptoBoringSSL", "boringssl", "https://boringssl.googlesource.com/boringssl", "ISC AND OpenSSL"),
        ("Sources/CXKCP", "XKCP", "https://github.com/XKCP/XKCP", "CC0-1.0"),
    ],
}
# Debian's copyright files are not uniform, so the licences of the few libraries are listed here.
DEBIAN = {
    "libc6": "LGPL-2.1-or-later",
    "libcurl4": "curl",
    "libexpat1": "MIT",
    "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libpq5": "PostgreSQL",
    "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "zlib1g": "Zlib",
}
# Debian packages whose archives are linked statically, by the module that does.
STATIC = {"CICU": ("libicu-dev", "Unicode-DFS-2016")}


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def license_of(text):
    """Returns the SPDX expression of a licence text; None if it is not known."""
    text = " ".join(text.split())
    return next((expression for expression, pattern in TEXTS if re.search(pattern, text, re.S)), None)


def notices(text):
    """Yields the name, homepage and SPDX expression of each component that a notice names."""
    for block in re.split(r"^-{3,}$", text, flags=re.M):
        for licence in re.finditer(r"\* LICENSE \(([^)]*)\):?", block):
            homepage = re.search(r"\* HOMEPAGE:\s+\* (\S+)", block[licence.end():])
            assert homepage, f"a notice has no homepage: {block}"
            # The repository, or else the host.
            host, *path = homepage[1].split("://", 1)[1].strip("/").split("/")
            name = path[1] if len(path) > 1 else path[0] if path else host.removeprefix("www.")
            yield name, homepage[1], NAMES.get(licence[1]), licence[1]


def linked_modules():
    """Returns the names of the modules in the release executable."""
    text = read(f"{ROOT}/.build/release/aisle.product/Objects.LinkFileList")
    return set(re.findall(r"/([^/\n]+)\.build/", text))


def is_linked(package, modules):
    folders = glob.glob(f"{CHECKOUTS}/{package}/Sources/*") + glob.glob(f"{CHECKOUTS}/{package}/Sources/*/*")
    return any(os.path.isdir(folder) and os.path.basename(folder) in modules for folder in folders)


def component(name, version, expression, reference, scope="required", **more):
    licence = {"expression": expression} if " " in expression else {"license": {"id": expression}}
    found = {"type": "library", "bom-ref": reference, "name": name, "licenses": [licence], "scope": scope, **more}
    if version:
        found["version"] = version
    return found


def packages(problems):
    """Yields the Swift packages, and the components that are part of them."""
    modules = linked_modules()
    for pin in json.loads(read(f"{ROOT}/Package.resolved"))["pins"]:
        name, state = pin["identity"], pin["state"]
        version = state.get("version", state["revision"])
        location = pin["location"].removesuffix(".git")
        reference = f"pkg:swift/{location.split('://', 1)[1]}@{version}"
        scope = "required" if is_linked(name, modules) else "excluded"
        texts = glob.glob(f"{CHECKOUTS}/{name}/LICENSE*")
        expression = license_of(read(texts[0])) if texts else None
        if not expression:
            problems.append(f"{name} {version}: the licence is not known")
            continue
        contained = [(part, homepage, licence, licence) for folder, part, homepage, licence in CONTAINED.get(name, [])
                     if os.path.isdir(f"{CHECKOUTS}/{name}/{folder}")]
        for path in sorted(glob.glob(f"{CHECKOUTS}/{name}/NOTICE*")):
            contained += notices(read(path))
        parts = []
        for part, homepage, licence, stated in contained:
            if not licence:
                problems.append(f"{part} in {name} {version}: the licence “{stated}” is not known")
            elif part not in {found["name"] for found in parts}:
                parts.append(component(part, None, licence, f"{reference}#{part}", scope, externalReferences=[
                    {"type": "website", "url": homepage}]))
        more = {"components": parts} if parts else {}
        yield component(name, version, expression, reference, scope, purl=reference, externalReferences=[
            {"type": "vcs", "url": location}], hashes=[{"alg": "SHA-1", "content": state["revision"]}], **more)


def toolchain(problems):
    """Yields the Swift runtime, which is linked statically."""
    swift = os.path.realpath(shutil.which("swift") or "/usr/bin/swift")
    version = re.search(r"Swift version (\S+)", output("swift", "--version"))[1]
    texts = glob.glob(os.path.join(os.path.dirname(swift), "..", "share", "swift", "LICENSE*"))
    expression = license_of(read(texts[0])) if texts else None
    if expression:
        yield component("swift", version, expression, f"pkg:generic/swift@{version}", purl=f"pkg:generic/swift@{version}",
                        description="Runtime, standard library, Dispatch and FoundationEssentials")
    else:
        problems.append(f"swift {version}: the licence is not known")


def libraries(executable, problems):
    """Yields the Debian packages of the shared libraries that an executable names."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", executable))
    resolved = dict(re.findall(r"^\s*(\S+) => (\S+)", output("ldd", executable), re.M))
    found = set()
    for library in needed:
        if library.startswith("ld-linux"):
            continue
        # dpkg knows files by the names in their packages, with or without /usr.
        path = os.path.realpath(resolved[library])
        for candidate in (path, path.removeprefix("/usr")):
            owner = subprocess.run(["dpkg-query", "-S", candidate], capture_output=True, text=True).stdout
            if owner:
                found.add(owner.split(":")[0])
                break
        else:
            problems.append(f"{library}: no Debian package has it")
    for package in sorted(found):
        version, reference = debian(package)
        if package not in DEBIAN:
            problems.append(f"{package} {version}: the licence is not known")
            continue
        yield component(package, version, DEBIAN[package], reference, purl=reference)


def archives():
    """Yields the Debian packages whose archives are linked statically."""
    for package, expression in (STATIC[module] for module in sorted(linked_modules() & STATIC.keys())):
        version, reference = debian(package)
        yield component(package, version, expression, reference, purl=reference, description="Linked statically")


def debian(package):
    """Returns the version and the reference of an installed Debian package."""
    version, architecture = output("dpkg-query", "-W", "-f=${Version} ${Architecture}", package).split("\n")[0].split()
    return version, f"pkg:deb/debian/{package}@{version}?arch={architecture}"


def expressions(components):
    for each in components:
        for licence in each["licenses"]:
            yield each["name"], licence.get("expression") or licence["license"]["id"]
        yield from expressions(each.get("components", []))


def main():
    target = sys.argv[1]
    executable = sys.argv[2] if len(sys.argv) > 2 else f"{ROOT}/.build/release/aisle"
    version = re.search(r'static let version = "(.*)"', read(f"{ROOT}/Sources/aisle/App/Aisle.swift"))[1]
    problems = []
    components = [*packages(problems), *toolchain(problems), *archives(), *libraries(executable, problems)]
    allowed = {line.strip() for line in read(f"{ROOT}/packaging/licenses.allow").splitlines() if line.strip() and line[0] != "#"}
    for name, expression in expressions(components):
        if expression not in allowed:
            problems.append(f"{name}: the licence {expression} is not in packaging/licenses.allow")
    if problems:
        print("\n".join(problems), file=sys.stderr)
        return 1
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct"))
    reference = f"pkg:generic/aisle@{version}"
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)),
            "component": {"type": "application", "bom-ref": reference, "name": "aisle", "version": version, "purl": reference,
                          "licenses": [{"license": {"id": "Apache-2.0"}}]},
        },
        "components": components,
        "dependencies": [{"ref": reference, "dependsOn": [each["bom-ref"] for each in components if each["scope"] == "required"]}],
    }
    # The same content has the same serial number.
    digest = hashlib.sha256(json.dumps(bom, sort_keys=True).encode()).hexdigest()
    bom["serialNumber"] = f"urn:uuid:{uuid.UUID(digest[:32], version=4)}"
    os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
    with open(target, "w") as file:
        json.dump(bom, file, indent=2, ensure_ascii=False)
        file.write("\n")
    linked = sum(each["scope"] == "required" for each in components)
    print(f"{target}: {len(components)} components, {linked} in the release; all licences are allowed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
