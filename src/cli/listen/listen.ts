import { setTimeout as sleep } from "node:timers/promises";
import { type Command, InvalidArgumentError, Option } from "commander";
import { UserError } from "../../lib/failure.ts";
import { parseJson } from "../../lib/json.ts";
import { printable } from "../../lib/text.ts";
import { ownValue } from "../../management/fields.ts";
import { type CommandContext, collect } from "../context.ts";
import { readInput } from "../input.ts";
import { parseTime } from "../operations/flags.ts";
import { responseJson } from "../operations/table.ts";
import { flushOutput, print, printError } from "../output.ts";
import type { IncomingDelivery } from "./listener.ts";

const DEFAULT_PORT = 9200;
const MAX_SECRETS = 100;
const MAX_SECRETS_BYTES = 16 * 1024;
/** How much of a delivery is shown. */
const MAX_SHOWN_CHARS = 200_000;
/** The value recommended by Standard Webhooks. */
const MAX_AGE_SECS = 300;
/** The longest pause between two events of a stream that is played back. */
const MAX_PAUSE_MS = 20_000;

/** The time range of a stream in unix seconds, and the playback speed. */
interface StreamWindow {
  readonly since?: number;
  readonly until?: number;
  readonly speed?: number;
}

interface ListenOptions extends StreamWindow {
  readonly secret: readonly string[];
  readonly secretFile?: string;
  readonly answer: number;
  readonly stream?: string;
}

/** `listen`: a webhook receiver that prints deliveries, or a client that prints the events of a stream. */
export function registerListen(program: Command, context: CommandContext): void {
  program
    .command("listen")
    .description(
      `receive webhook deliveries on this machine (at --port, or ${DEFAULT_PORT}), verify and print them`,
    )
    .addOption(
      new Option("--secret <text>", "a secret of the webhook, in either form, oldest first; may be repeated")
        .argParser(collect)
        .default([], "none"),
    )
    .option("--secret-file <file>", "file with a secret on each line, - for standard input")
    .option(
      "--stream <url>",
      "instead of deliveries, print the events of a node's stream, with its filters in the query, and resume after a break",
    )
    .option("--since <time>", 'of a stream: begin there, such as 03:10, "2 h ago" or unix seconds', parseTime)
    .option("--until <time>", "of a stream: end there", parseTime)
    .option(
      "--speed <n>",
      "of a stream with --since: replay events at this multiple of their pace, at most 20 seconds apart",
      parseSpeed,
    )
    .option("--answer <status>", "the response status for genuine deliveries, 200 to 599", parseStatus, 200)
    .action(async ({ secret, secretFile, answer, stream, ...window }: ListenOptions) => {
      if (stream !== undefined) {
        if (secret.length > 0 || secretFile !== undefined)
          throw new UserError("--stream needs no secret: events of a stream are not signed");
        await printStream(context, stream, window);
        return;
      }
      if (Object.keys(window).length > 0) throw new UserError("--since, --until and --speed need --stream");
      const { createCommon, runService } = await import("../common.ts");
      const { serviceNames } = await import("../../config/names.ts");
      const { startListener } = await import("./listener.ts");
      const { secretText } = await import("../../webhooks/deliver/sign.ts");
      const filed =
        secretFile === undefined
          ? []
          : linesOf(new TextDecoder().decode(await readInput(secretFile, MAX_SECRETS_BYTES)));
      const secrets = [...secret, ...filed].map(secretText);
      if (secrets.length === 0) throw new UserError("give --secret or --secret-file");
      if (secrets.includes("")) throw new UserError("a secret is empty");
      if (secrets.length > MAX_SECRETS) throw new UserError(`give at most ${MAX_SECRETS} secrets`);
      const common = createCommon(context, { reader: "client" });
      const { http, service } = common.config;
      const signatureHeader = `${serviceNames(service.name).headerPrefix}Signature`;
      context.exitCode = await runService(common, async () => {
        const listener = startListener({
          port: context.flags().port === undefined ? DEFAULT_PORT : http.port,
          secrets,
          signatureHeader,
          status: answer,
          clock: common.clock,
          show: (delivery) => print(shown(delivery, secrets, signatureHeader)),
        });
        common.shutdown.add("listener", () => listener.stop());
        print(`Receives deliveries at ${listener.url}\n`);
      });
    });
}

/** Prints the events of a stream until its end, or until the process is stopped. */
async function printStream(context: CommandContext, target: string, window: StreamWindow): Promise<void> {
  const { createCommon, runService } = await import("../common.ts");
  const { serviceNames } = await import("../../config/names.ts");
  const { followStream } = await import("./follow-stream.ts");
  const common = createCommon(context, { reader: "client" });
  const url = streamUrl(target, serviceNames(common.config.service.name).basePath);
  const { since, until, speed } = window;
  if (speed !== undefined && since === undefined) throw new UserError("--speed needs --since");
  if (since !== undefined) url.searchParams.set("since", `${since}`);
  if (until !== undefined) url.searchParams.set("until", `${until}`);
  const pace = paceOf(speed);
  context.exitCode = await runService(common, async () => {
    const { signal } = common.shutdown;
    await followStream({
      url,
      signal,
      onEvent: async ({ id, event, data }) => {
        // The stream is read slowly on purpose, and continues where the node ended it.
        if (speed !== undefined && event === "error" && data.includes("slow_consumer")) return;
        await sleep(pace(data), undefined, { signal }).catch(() => undefined);
        if (signal.aborted) return;
        print(`${printable(event)}\n  id: ${printable(id)}\n${pretty(data)}`);
        // If the output is read slowly, the stream slows down instead of filling the memory.
        await flushOutput();
      },
      onBreak: (reason) =>
        speed === undefined && printError(`The stream broke and is opened again: ${printable(reason)}\n`),
    });
    if (!signal.aborted) void common.shutdown.start("the stream has ended");
  });
}

/**
 * Returns a function for how long to wait before each event (ms), so that their distances are `speed` times shorter than those of their
 * times.
 */
function paceOf(speed: number | undefined): (data: string) => number {
  let last: number | undefined;
  return (data) => {
    if (speed === undefined) return 0;
    const at = Number(ownValue(Object(parseJson(data)), "created_at"));
    if (!Number.isFinite(at)) return 0;
    const waitMs = Math.max(0, (at - (last ?? at)) * 1000) / speed;
    last = at;
    return Math.min(waitMs, MAX_PAUSE_MS);
  };
}

/**
 * Returns the URL of the stream. A base URL gets the path of the stream; a URL with a path is unchanged.
 *
 * @throws UserError if it is not an http or https URL.
 */
function streamUrl(target: string, basePath: string): URL {
  const url = URL.parse(target);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UserError(`${JSON.stringify(target)} is not an http or https URL`);
  if (url.pathname === "/") url.pathname = `${basePath}/stream`;
  return url;
}

/** Formats a delivery: its id, the results of the verification and its body. */
function shown(delivery: IncomingDelivery, secrets: readonly string[], signatureHeader: string): string {
  const { messageId, body, verified, isAgain } = delivery;
  const name = (index: number | undefined) =>
    index === undefined ? "NOT GENUINE" : `by secret ${index + 1} (${masked(secrets[index] ?? "")})`;
  const { ageSecs } = verified;
  const isOld = ageSecs !== undefined && Math.abs(ageSecs) > MAX_AGE_SECS;
  return [
    `${printable(messageId ?? "no webhook-id")}${isAgain ? ", repeated" : ""}\n`,
    `  ${signatureHeader}: ${name(verified.own)}\n`,
    `  webhook-signature: ${name(verified.standard)}${isOld ? `, but signed ${ageSecs} seconds ago` : ""}\n`,
    pretty(body),
  ].join("");
}

/** Shows enough of a secret to distinguish it from others. */
function masked(secret: string): string {
  return `${printable(secret.slice(0, 4))}…`;
}

function pretty(body: string): string {
  const cut = body.slice(0, MAX_SHOWN_CHARS);
  try {
    return responseJson(JSON.parse(cut));
  } catch {
    return `${printable(cut)}\n`;
  }
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function parseSpeed(text: string): number {
  const speed = /^\d{1,5}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (speed === 0) throw new InvalidArgumentError("It is a number above 0, such as 10 or 0.5.");
  return speed;
}

function parseStatus(text: string): number {
  const status = /^[2-5]\d\d$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(status)) throw new InvalidArgumentError("It is a status from 200 to 599.");
  return status;
}
