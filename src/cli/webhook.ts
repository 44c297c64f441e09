import type { Command } from "commander";
import { UserError } from "../lib/failure.ts";
import type { CommandContext } from "./context.ts";
import { addRecordCommands, callForRecord, changesOf, type RecordKind } from "./management-command.ts";
import { type CallOptions, withCallOptions } from "./management-options.ts";
import {
  type SubscriptionOptions,
  subscriptionOf,
  withSubscriptionOptions,
} from "./management-subscription.ts";
import { addDeliveryCommands } from "./webhook-deliveries.ts";

const WEBHOOKS: RecordKind = {
  noun: "webhook",
  idKey: "webhook_id",
  listFields: ["webhook_id", "title", "target_url", "active", "subscription", "secrets", "created_at"],
  operations: {
    list: "listWebhooks",
    get: "getWebhook",
    delete: "deleteWebhook",
    rotate: "rotateWebhookSecret",
  },
};

interface WebhookFields extends CallOptions, SubscriptionOptions {
  readonly name?: string;
  readonly targetUrl?: string;
  /** False clears it. */
  readonly description?: string | false;
  readonly active?: boolean;
}

/** `webhook create|list|get|update|delete|rotate|deliveries|delivery|stats|preview|replay|test`: the webhooks of an fid, on any node. */
export function registerWebhook(program: Command, context: CommandContext): void {
  const webhook = program
    .command("webhook")
    .description("manage the webhooks of an fid, on this or another node");

  const create = withCallOptions(
    webhook.command("create").description("create a webhook; prints its id and secret"),
  )
    .requiredOption("--name <text>", "1 to 128 characters")
    .requiredOption("--target-url <url>", "https URL of the receiver")
    .option("--description <text>", "what it is for");
  withSubscriptionOptions(create).action(async (options: WebhookFields) => {
    const { name, targetUrl, description } = options;
    const body = { name, url: targetUrl, description, subscription: await neededSubscription(options) };
    const query = { owner_fid: String(options.fid) };
    await callForRecord(context, options, { kind: WEBHOOKS, operation: "createWebhook", query, body });
  });

  const update = withCallOptions(
    webhook.command("update").description("change the given fields of a webhook"),
  )
    .argument("<webhook_id>")
    .option("--name <text>", "1 to 128 characters")
    .option("--target-url <url>", "https URL of the receiver")
    .option("--description <text>", "what it is for")
    .option("--no-description", "clear the description")
    .option("--active", "resume deliveries")
    .option("--no-active", "pause deliveries; queued ones wait");
  withSubscriptionOptions(update).action(async (id: string, options: WebhookFields) => {
    const { name, targetUrl, description, active } = options;
    const changes = changesOf({
      name,
      url: targetUrl,
      description: description === false ? null : description,
      active,
      subscription: await subscriptionOf(options),
    });
    const body = { webhook_id: id, ...changes };
    await callForRecord(context, options, {
      kind: WEBHOOKS,
      operation: "updateWebhook",
      body,
      secrets: "masked",
    });
  });

  addRecordCommands(webhook, context, WEBHOOKS);
  addDeliveryCommands(webhook, context);
}

async function neededSubscription(options: SubscriptionOptions): Promise<unknown> {
  const subscription = await subscriptionOf(options);
  if (subscription === undefined)
    throw new UserError("a subscription is required: --subscription <file.json>, or --on <kinds>");
  return subscription;
}
