import type { OutboundResult } from "../../net/client.ts";

/** Returns the attributes of a call before it is made: the host, because the rest of a URL may have secrets. */
export function calledHost(url: string): Readonly<Record<string, string | undefined>> {
  return { "http.request.method": "POST", "server.address": URL.parse(url)?.hostname };
}

/** Returns what the span of a call ends with. */
export function callEnd(outcome: OutboundResult) {
  if (!outcome.ok) return { failure: outcome.error.kind };
  const { status } = outcome.value;
  return {
    attributes: { "http.response.status_code": status },
    failure: status >= 400 ? `${status}` : undefined,
  };
}
