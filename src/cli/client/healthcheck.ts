import type { Command } from "commander";
import { UserError } from "../../lib/failure.ts";
import { noResponseReason, STRICT_TLS } from "../../net/operator-fetch.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";

/** `healthcheck [url]`: checks a running instance, for containers and supervisors. */
export function registerHealthcheck(program: Command, context: CommandContext): void {
  program
    .command("healthcheck")
    .description("check whether a running instance is ready; exit 0 if so, else 1")
    .argument(
      "[url]",
      "base URL of the instance (default: the node of the data directory, else the address in the settings)",
    )
    .option("--live", "check only that the process is alive (/health instead of /ready)")
    .option("--timeout <secs>", "seconds to wait for the response, 1 to 60", "5")
    .action(
      async (url: string | undefined, { live = false, timeout }: { live?: boolean; timeout: string }) => {
        const timeoutSecs = Number(timeout);
        if (!/^\d+$/.test(timeout) || timeoutSecs < 1 || timeoutSecs > 60) {
          throw new UserError("--timeout must be an integer from 1 to 60");
        }
        const { readConfig } = await import("../common.ts");
        const { ownNodeUrl } = await import("./node-url.ts");
        const target = probeUrl(url ?? ownNodeUrl(readConfig(context, "client")), live);
        print(`${await probe(target, timeoutSecs * 1000)}\n`);
      },
    );
}

const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_SHOWN_CHARS = 500;

/**
 * Returns the URL to check. A base URL gets the path of the check; a URL with a path is unchanged.
 *
 * @throws UserError if the URL is not valid.
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
 * @throws UserError if there is no response in time or it is not a 2xx.
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
