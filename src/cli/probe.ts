import { UserError } from "../lib/failure.ts";
import { noResponseReason } from "../net/operator-fetch.ts";
import { STRICT_TLS } from "../net/strict-tls.ts";

const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_SHOWN_CHARS = 500;

/**
 * The URL to check. A base URL gets the path of the check; a URL with a path stays unchanged.
 *
 * @throws UserError when there is no valid URL.
 */
export function probeUrl(text: string, live: boolean): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UserError(`${JSON.stringify(text)} is not an http or https URL`);
  }
  if (url.pathname === "/") url.pathname = live ? "/health" : "/ready";
  return url;
}

/**
 * Sends one request.
 *
 * @returns the status and the start of the response.
 * @throws UserError when there is no response in time or it is not a 2xx.
 */
export async function probe(url: URL, timeoutMs: number): Promise<string> {
  const shownUrl = `${url.origin}${url.pathname}`;
  let status: number;
  let body: string;
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { redirect: "manual", signal, tls: STRICT_TLS });
    status = response.status;
    body = await readStart(response);
  } catch (cause) {
    throw new UserError(noResponseReason(url, cause), { cause });
  }
  const summary = `${status} ${body.slice(0, MAX_SHOWN_CHARS)}`.trimEnd();
  if (status < 200 || status > 299) throw new UserError(`${shownUrl} responded ${summary}`);
  return summary;
}

async function readStart(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_RESPONSE_BYTES) break;
  }
  return text.replaceAll(/[\p{Cc}]+/gu, " ");
}
