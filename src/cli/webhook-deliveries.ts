import { type Command, InvalidArgumentError, Option } from "commander";
import { UserError } from "../lib/failure.ts";
import { printable } from "../lib/printable.ts";
import type { CommandContext } from "./context.ts";
import { callAndPrint } from "./management-command.ts";
import { type CallOptions, withCallOptions } from "./management-options.ts";
import { memberOf, recordsTable } from "./management-table.ts";

interface ListOptions extends CallOptions {
  readonly state?: string;
  readonly limit: string;
  readonly cursor?: string;
}

interface ReplayOptions extends CallOptions {
  readonly messageId?: string;
  readonly from?: number;
  readonly to?: number;
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

/** Adds `deliveries`, `replay` and `test` to the command of webhooks. */
export function addDeliveryCommands(webhook: Command, context: CommandContext): void {
  const onWebhook = (name: string, description: string) =>
    withCallOptions(webhook.command(name).description(description).argument("<webhook_id>"));

  onWebhook("deliveries", "list the deliveries of the webhook, newest first")
    .addOption(
      new Option("--state <state>", "only those in this state").choices([
        "queued",
        "delivered",
        "failed",
        "dropped",
      ]),
    )
    .option("--limit <n>", "how many, at most 100", "20")
    .option("--cursor <cursor>", "continue after an earlier page")
    .action(async (id: string, options: ListOptions) => {
      const { state, limit, cursor, ...call } = options;
      const query = {
        webhook_id: id,
        limit,
        ...(state === undefined ? {} : { state }),
        ...(cursor === undefined ? {} : { cursor }),
      };
      await callAndPrint(context, call, "listWebhookDeliveries", { query }, deliveriesTable);
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

/** Formats a page as a table, and the option for the next page. */
function deliveriesTable(response: unknown): string {
  const deliveries = memberOf(response, "deliveries");
  const rows = Array.isArray(deliveries) ? deliveries.map(toRow) : [];
  const cursor = memberOf(memberOf(response, "next"), "cursor");
  const more = typeof cursor === "string" ? `more: --cursor ${printable(cursor)}\n` : "";
  return recordsTable(rows, DELIVERY_FIELDS, "masked") + more;
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

/** Parses unix seconds, or a time in ISO 8601 with its zone. */
function parseTime(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  const isWhole = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const time = isWhole ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new InvalidArgumentError("It is a time such as 2026-05-01T12:00:00Z.");
  return Math.floor(time / 1000);
}
