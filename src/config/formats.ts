import { isIP, isIPv6 } from "node:net";

const MAX_HOST_CHARS = 253;
const HOST_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;

/** An IP address (without brackets) or a host name. */
export function isHost(text: string): boolean {
  if (isIP(text) !== 0) return true;
  if (text.length === 0 || text.length > MAX_HOST_CHARS) return false;
  const labels = text.split(".");
  // A last label of digits alone is an IPv4 address that is none, such as 127.0.0.256.
  return labels.every((label) => HOST_LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? "");
}

/** An IPv4 or IPv6 address, a slash and the number of leading bits that count. */
export function isCidr(text: string): boolean {
  const [, address = "", bits = ""] = /^([^/%]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
}

/** An http or https URL, or nothing at all for "not configured". */
export function isHttpUrlOrEmpty(text: string): boolean {
  if (text === "") return true;
  if (/[\s\p{Cc}]/u.test(text) || !/^https?:\/\//i.test(text)) return false;
  return URL.canParse(text);
}

/**
 * The http or https URL of a gRPC server, which is scheme, host and port alone, or nothing at all. With https the host is a
 * name: the runtime's TLS asks for a certificate by names only.
 */
export function isNodeUrlOrEmpty(text: string): boolean {
  if (!isHttpUrlOrEmpty(text)) return false;
  const url = URL.parse(text);
  if (url === null) return true;
  const isAddress = isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0;
  if (url.protocol === "https:" && isAddress) return false;
  return url.href === `${url.origin}/` && !text.includes("@");
}

/** A web origin as browsers send it (scheme, host and port alone), or "*". */
export function isOriginOrStar(text: string): boolean {
  if (text === "*") return true;
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Whether only this machine can reach a listener on `host`. */
export function isLoopbackHost(host: string): boolean {
  if (host.toLowerCase() === "localhost") return true;
  if (isIPv6(host)) return URL.parse(`http://[${host}]`)?.hostname === "[::1]";
  return isIP(host) === 4 && host.startsWith("127.");
}

/** Whether a listener on `host` takes connections on every address of this machine. */
export function isWildcardHost(host: string): boolean {
  return host === "0.0.0.0" || (isIPv6(host) && URL.parse(`http://[${host}]`)?.hostname === "[::]");
}
