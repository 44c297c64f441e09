const MAX_CHARS = 2048;
/** Schemes that run code, read files, or send without TLS. */
const REFUSED = new Set([
  "about:",
  "blob:",
  "data:",
  "file:",
  "filesystem:",
  "ftp:",
  "http:",
  "intent:",
  "javascript:",
  "vbscript:",
  "view-source:",
  "ws:",
  "wss:",
]);

/** Whether a text is a URL that a user may be sent back to: https, or the scheme of an app. It is never called from here. */
export function isRedirectUrl(text: string): boolean {
  if (text.length > MAX_CHARS || /[\s\p{Cc}]/u.test(text)) return false;
  const url = URL.parse(text);
  return url !== null && url.username === "" && url.password === "" && !REFUSED.has(url.protocol);
}
