import { type Command, InvalidArgumentError, Option } from "commander";
import { UserError } from "../lib/failure.ts";
import { printable } from "../lib/printable.ts";
import type { CommandContext } from "./context.ts";
import { callAndPrint } from "./management-command.ts";
import {
  type CallOptions,
  type PageOptions,
  withCallOptions,
  withPageOptions,
} from "./management-options.ts";
import {
  type SubscriptionOptions,
  subscriptionOf,
  withSubscriptionOptions,
} from "./management-subscription.ts";
import { memberOf, moreLine, recordsTable, recordTable } from "./management-table.ts";

interface ListOptions extends CallOptions, PageOptions {
  readonly state?: string;
  readonly type?: string;
  readonly from?: number;
  readonly to?: number;
  readonly test?: boolean;
}

interface ReplayOptions extends CallOptions {
  readonly messageId?: string;
  readonly from?: number;
  readonly to?: number;
}

interface PreviewOptions extends CallOptions, SubscriptionOptions {
  readonly events?: number;
}

interface StatsOptions extends CallOptions {
  readonly hours?: number;
}

const DELIVERY_FIELDS = [
  "message_id",
  "type",
  "state",
  "attempts",
  "last_response",
  "created_at",
  "next_attempt_at",
  "ended_at",
];

/** Adds `deliveries`, `delivery`, `stats`, `preview`, `replay` and `test` to the command of webhooks. */
export function addDeliveryCommands(webhook: Command, context: CommandContext): void {
  const onWebhook = (name: string, description: string) =>
    withCallOptions(webhook.command(name).description(description).argument("<webhook_id>"));

  withPageOptions(onWebhook("deliveries", "list the deliveries of the webhook, newest first"))
    .addOption(
      new Option("--state <state>", "only those in this state").choices([
        "queued",
        "delivered",
        "failed",
        "dropped",
      ]),
    )
    .option("--type <kind>", "only those of this kind of event, such as cast.created")
    .option("--from <time>", "only those queued from this time on", parseTime)
    .option("--to <time>", "only those queued until this time", parseTime)
    .option("--test", "only those of tests")
    .option("--no-test", "none of tests")
    .action(async (id: string, options: ListOptions) => {
      const { state, type, from, to, test, limit, cursor, ...call } = options;
      const query = textsOf({ webhook_id: id, state, type, from, to, test, limit, cursor });
      await callAndPrint(context, call, "listWebhookDeliveries", { query }, deliveriesTable);
    });

  onWebhook("delivery", "show one delivery with its attempts and what is sent")
    .argument("<message_id>")
    .action(async (id: string, messageId: string, options: CallOptions) => {
      const query = { webhook_id: id, message_id: messageId };
      await callAndPrint(context, options, "getWebhookDelivery", { query }, deliveryText);
    });

  onWebhook("stats", "count what was delivered and what failed, with the durations of attempts")
    .option("--hours <n>", "how far back, 1 to 168 (default: 24)", parseWhole)
    .action(async (id: string, { hours, ...call }: StatsOptions) => {
      const query = textsOf({ webhook_id: id, hours });
      await callAndPrint(context, call, "getWebhookStats", { query }, statsTable);
    });

  withSubscriptionOptions(
    withCallOptions(
      webhook
        .command("preview")
        .description("try a subscription on the newest events of the node; sends nothing"),
    ).option("--events <n>", "how many events, 1 to 1000 (default: 1000)", parseWhole),
  ).action(async ({ events, ...options }: PreviewOptions) => {
    const subscription = await subscriptionOf(options);
    if (subscription === undefined)
      throw new UserError("a subscription is required: --subscription <file.json>, or --on <kinds>");
    const body = { subscription, events };
    await callAndPrint(context, options, "previewWebhook", { body }, previewText);
  });

  onWebhook("replay", "send one delivery again, or the failed ones of a period")
    .option("--message-id <id>", "this delivery")
    .option(
      "--from <time>",
      "deliveries queued from this time on, such as 2026-05-01T12:00:00Z, or unix seconds",
      parseTime,
    )
    .option("--to <time>", "until this time (default: now)", parseTime)
    .action(async (id: string, { messageId, from, to, ...call }: ReplayOptions) => {
      if ((messageId === undefined) === (from === undefined))
        throw new UserError("which ones? use --message-id or --from");
      const body = { webhook_id: id, message_id: messageId, from, to };
      await callAndPrint(context, call, "replayWebhookDeliveries", { body }, (response) => {
        const isMore = memberOf(response, "more") === true;
        const count = printable(String(memberOf(response, "replayed")));
        return `queued ${count} again${isMore ? "; there are more, so call again" : ""}\n`;
      });
    });

  onWebhook("test", "send the webhook a made-up event of each subscribed kind").action(
    async (id: string, options: CallOptions) => {
      const body = { webhook_id: id };
      await callAndPrint(context, options, "testWebhook", { body }, (response) =>
        recordsTable(memberOf(response, "deliveries"), ["message_id", "type"], "masked"),
      );
    },
  );
}

/** The parameters of a query, without those that are left out. */
function textsOf(values: Readonly<Record<string, string | number | boolean | undefined>>) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

/** Formats a delivery, its attempts, and the request. */
function deliveryText(response: unknown): string {
  const { attempts, ...delivery } = memberOf(response, "delivery") as Record<string, unknown>;
  const request = memberOf(response, "request");
  const fields = ["attempted_at", "status", "error", "duration_ms", "response"];
  return [
    recordTable(delivery, "masked"),
    `attempts\n${recordsTable(attempts, fields, "masked")}`,
    `headers\n${recordTable(memberOf(request, "headers"), "masked")}`,
    `body\n${printable(String(memberOf(request, "body")))}\n`,
  ].join("\n");
}

/** Formats the buckets that have attempts. */
function statsTable(response: unknown): string {
  const buckets = memberOf(response, "buckets");
  const used = Array.isArray(buckets) ? buckets.filter((bucket) => memberOf(bucket, "p50_ms") !== null) : [];
  const rows = used.map((bucket) => ({ ...bucket, from_at: memberOf(bucket, "at") }));
  return recordsTable(rows, ["from_at", "delivered", "failed", "p50_ms", "p95_ms"], "masked");
}

/** Formats the counts of a preview, and a line for each sample. */
function previewText(response: unknown): string {
  const count = (name: string) => printable(String(memberOf(response, name)));
  const fellTo = Object.entries((memberOf(response, "fell_to") ?? {}) as Record<string, unknown>);
  const fell = fellTo.map(([field, events]) => ({ fell_to: field, events }));
  const samples = memberOf(response, "samples");
  const lines = Array.isArray(samples) ? samples.map((body) => `${printable(JSON.stringify(body))}\n`) : [];
  return [
    `${count("matched")} of the newest ${count("scanned")} events match\n`,
    ...(fell.length > 0 ? [recordsTable(fell, ["fell_to", "events"], "masked")] : []),
    ...lines,
  ].join("");
}

/** Formats a page as a table, and the option for the next page. */
function deliveriesTable(response: unknown): string {
  const deliveries = memberOf(response, "deliveries");
  const rows = Array.isArray(deliveries) ? deliveries.map(toRow) : [];
  return recordsTable(rows, DELIVERY_FIELDS, "masked") + moreLine(response);
}

/** Replaces the attempts by the last one. */
function toRow(delivery: unknown): Readonly<Record<string, unknown>> {
  const attempts = memberOf(delivery, "attempts");
  const made = Array.isArray(attempts) ? attempts : [];
  const last = made.at(-1);
  return {
    ...(delivery as object),
    attempts: made.length,
    last_response: memberOf(last, "status") ?? memberOf(last, "error"),
  };
}

function parseWhole(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError("It is a whole number.");
  return Number(text);
}

/** Parses unix seconds, or a time in ISO 8601 with its zone. */
function parseTime(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  const isWhole = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const time = isWhole ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new InvalidArgumentError("It is a time such as 2026-05-01T12:00:00Z.");
  return Math.floor(time / 1000);
}
