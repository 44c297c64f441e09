const MAX_CHARS = 2048;
/** Schemes that run code, read files, send without TLS, or open a part of the system or browser instead of an app. */
const REFUSED = new Set([
  ...["about:", "blob:", "chrome:", "data:", "edge:", "feed:", "file:", "filesystem:", "ftp:", "http:"],
  ...["intent:", "jar:", "javascript:", "mailto:", "resource:", "search:", "shell:", "sms:", "tel:"],
  ...["vbscript:", "view-source:", "ws:", "wss:"],
]);
/** Windows opens parts of itself by such schemes, some with commands in the URL. */
const SYSTEM_SCHEME = /^(?:ms-|search-ms:|.*-extension:)/;

/** Whether a text is a URL that a user may be sent back to: https, or the scheme of an app. It is never called from here. */
export function isRedirectUrl(text: string): boolean {
  if (text.length > MAX_CHARS || /[\s\p{Cc}]/u.test(text)) return false;
  const url = URL.parse(text);
  return (
    url !== null &&
    url.username === "" &&
    url.password === "" &&
    !REFUSED.has(url.protocol) &&
    !SYSTEM_SCHEME.test(url.protocol)
  );
}
