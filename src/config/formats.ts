import { isIP, isIPv6 } from "node:net";

/** Maximum number of nodes in `upstream.urls`. */
export const MAX_UPSTREAMS = 16;

const MAX_HOST_CHARS = 253;
const HOST_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Reports whether a text is an IP address (without brackets) or a host name. */
export function isHost(text: string): boolean {
  if (isIP(text) !== 0) return true;
  if (text.length === 0 || text.length > MAX_HOST_CHARS) return false;
  const labels = text.split(".");
  // A last label with only digits makes it an invalid IPv4 address, such as 127.0.0.256.
  return labels.every((label) => HOST_LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? "");
}

/** Reports whether a text is an IPv4 or IPv6 address, a slash and a prefix length. */
export function isCidr(text: string): boolean {
  const [, address = "", bits = ""] = /^([^/%]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
}

/** Reports whether a text is an http or https URL, or empty for "not configured". */
export function isHttpUrlOrEmpty(text: string): boolean {
  if (text === "") return true;
  if (/[\s\p{Cc}]/u.test(text) || !/^https?:\/\//i.test(text)) return false;
  return URL.canParse(text);
}

/**
 * Reports whether a text is the http or https URL of a gRPC server (scheme, host and port only), or empty. With https the host must be
 * a name, because the runtime's TLS verifies certificates only by name.
 */
export function isNodeUrlOrEmpty(text: string): boolean {
  if (!isHttpUrlOrEmpty(text)) return false;
  const url = URL.parse(text);
  if (url === null) return true;
  const isAddress = isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0;
  if (url.protocol === "https:" && isAddress) return false;
  return url.href === `${url.origin}/` && !text.includes("@");
}

/** Reports whether a text is an http or https URL that paths can be appended to, or empty. */
export function isPublicUrlOrEmpty(text: string): boolean {
  if (text === "") return true;
  if (!isHttpUrlOrEmpty(text) || /[?#@\\]/.test(text) || text.endsWith("/")) return false;
  const url = URL.parse(text);
  return url !== null && url.href.replace(/\/$/, "") === text;
}

/** Reports whether a text is a web origin as browsers send it (scheme, host and port only), or "*". */
export function isOriginOrStar(text: string): boolean {
  if (text === "*") return true;
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Reports whether a listener on `host` is reachable from this machine only. */
export function isLoopbackHost(host: string): boolean {
  if (host.toLowerCase() === "localhost") return true;
  if (isIPv6(host)) return URL.parse(`http://[${host}]`)?.hostname === "[::1]";
  return isIP(host) === 4 && host.startsWith("127.");
}

/** Reports whether a listener on `host` accepts connections on every address of this machine. */
export function isWildcardHost(host: string): boolean {
  return host === "0.0.0.0" || (isIPv6(host) && URL.parse(`http://[${host}]`)?.hostname === "[::]");
}
