/** Who can open a URL: every machine, those of the same network, or only the machine itself. */
type Reach = "everywhere" | "network" | "machine";

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\])$/;
/** Addresses that are not routed on the internet: RFC 1918, 3927, 4193, 4291 and 6598. */
const LOCAL_ADDRESS =
  /^(?:10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)[\d.]+$|^\[f(?:[cd]|e[89ab])[0-9a-f]*:/;
const LOCAL_NAME = /\.(?:local|lan|internal|intranet|home|home\.arpa|test)$/;

/** Returns who can open an http or https URL, as far as its host reveals that. */
export function reachOf(url: string): Reach {
  const host = URL.canParse(url) ? new URL(url).hostname.toLowerCase() : "";
  if (LOOPBACK.test(host)) return "machine";
  const isName = !/^[\d.]+$|^\[/.test(host);
  if (LOCAL_ADDRESS.test(host) || LOCAL_NAME.test(host) || (isName && !host.includes("."))) return "network";
  return "everywhere";
}
