/** Errors: showing them, and repeating requests while the server is unreachable. */
import { Problem } from "/aisle.js";
import { find } from "/dom.js";
import { text } from "/language.js";

const shown = {
  /** The pinned message; it is shown before any other until it is cleared. */
  pinned: null,
  /** Whether the shown message says that the server is unreachable or busy. */
  isOffline: false,
  /** The timer that clears any other message. */
  timer: null,
  /** How often the stream of events was lost or could not be opened since it was open last. */
  lostStreams: 0,
};

/** Shows an error for ten seconds; null clears it. */
export function showAlert(message) {
  clearTimeout(shown.timer);
  shown.isOffline = ["away", "waiting", "busy"].some((name) => message === text(name));
  if (message && !shown.isOffline) shown.timer = setTimeout(() => showAlert(null), 10_000);
  const visible = shown.pinned ?? message;
  find("away").hidden = !visible;
  find("away").textContent = visible ?? "";
}

/** Clears the message that the server is unreachable. */
export const clearOfflineAlert = () => shown.isOffline && showAlert(null);

/** Shows a message until it is cleared by null. */
export function pinMessage(message) {
  shown.pinned = message;
  showAlert(null);
}

/** A counter that increases when the page shows another view. Responses for an earlier view are ignored. */
export const generation = { now: 0 };

/**
 * Runs work that calls the server, shows its errors, and repeats it while the server is unreachable.
 * @param {() => Promise<any>} work
 * @param {{isKept?: boolean, isRefused?: (error: Problem) => boolean, isWaiting?: () => void}} [how] `isKept`: whether the work
 *   continues after the view has changed, as user edits do; `isRefused`: corrects a rejected request and returns true to retry it;
 *   `isWaiting`: called when the work waits for the server
 * @returns {Promise<any>} the result of the work; undefined if it failed or the view changed
 */
export async function attempt(work, { isKept = false, isRefused = () => false, isWaiting = () => {} } = {}) {
  for (const own = generation.now; isKept || own === generation.now; ) {
    try {
      const value = await work();
      if (isKept || own === generation.now) clearOfflineAlert();
      return value;
    } catch (error) {
      if (!isKept && own !== generation.now) return;
      if (error instanceof Problem && isRefused(error)) continue;
      showAlert(problemText(error));
      if (!(error instanceof Problem)) console.error(error);
      if (!isRetryable(error)) return;
      isWaiting();
      await new Promise((done) => setTimeout(done, 2000));
    }
  }
}

/**
 * Shows that the server is unreachable while a stream of events is lost, so that the page does not look current. A stream that
 * ends once may only change its server.
 */
export function reportStream(isOpen) {
  shown.lostStreams = isOpen ? 0 : shown.lostStreams + 1;
  if (isOpen) clearOfflineAlert();
  else if (shown.lostStreams > 1) showAlert(text("away"));
}

addEventListener("offline", () => showAlert(text("away")));
addEventListener("online", clearOfflineAlert);

/** Whether the request can be retried: the server is unreachable or busy, or failed internally. */
export const isRetryable = (error) => error instanceof Problem && (error.status === 0 || error.status === 429 || error.status >= 500);
export const problemText = (error) => (isRetryable(error) ? text(error.status ? "busy" : "away") : `${text("wrong")} ${error.message}`);

/** Announces a message to screen readers. */
export function announce(message) {
  const live = find("announcements");
  live.textContent = live.textContent === message ? `${message}\u00a0` : message;
}
