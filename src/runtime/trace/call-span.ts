import type { OutboundResult } from "../../net/client.ts";

/** Returns the attributes of a call before it is made: only the host, because the rest of a URL may contain secrets. */
export function calledHost(url: string): Readonly<Record<string, string | undefined>> {
  return { "http.request.method": "POST", "server.address": URL.parse(url)?.hostname };
}

/** Returns the final attributes of a call's span. */
export function callEnd(outcome: OutboundResult) {
  if (!outcome.ok) return { failure: outcome.error.kind };
  const { status } = outcome.value;
  return {
    attributes: { "http.response.status_code": status },
    failure: status >= 400 ? `${status}` : undefined,
  };
}
