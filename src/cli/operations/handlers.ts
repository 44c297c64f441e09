import type { Command } from "commander";
import type { commands } from "../../../client/src/commands.generated.ts";
import { UserError } from "../../lib/failure.ts";
import { printable } from "../../lib/text.ts";
import type { ManagementClient } from "../client/client.ts";
import { warnOfManifest } from "../client/manifest.ts";
import type { CallOptions } from "../client/options.ts";
import { deliveriesTable, deliveryText, previewText, statsTable } from "./delivery-text.ts";
import type { Fields } from "./flags.ts";
import { deleteSigners, listSigners } from "./signer.ts";
import { subscriptionOf, withSubscriptionOptions } from "./subscription.ts";
import { memberOf, moreLine, recordsTable, recordTable, type SecretDisplay } from "./table.ts";

/** What an operation's command does in addition to its declaration. */
interface Additions {
  /** Adds options that are not fields. */
  readonly options?: (command: Command) => Command;
  /** Returns fields that have no flags, and validates those that were `given` as arguments. */
  readonly fields?: (options: CallOptions & Fields, given: Fields) => Promise<Fields> | Fields;
}

/** Formats the response of the call. */
interface PrintingHandler extends Additions {
  readonly print: (response: unknown, options: Fields) => string;
  /** The member of the response that contains a secret, for standard output. */
  readonly secret?: string;
  /** Prints warnings to standard error before the call, unless the output is JSON. */
  readonly before?: (client: ManagementClient, fields: Fields) => Promise<void>;
  /** The same after the call. */
  readonly after?: (client: ManagementClient, response: unknown) => Promise<void>;
}

/** For a command that makes its own calls. */
interface CallingHandler extends Additions {
  readonly run: (client: ManagementClient, fields: Fields, options: CallOptions) => Promise<void>;
}

/** Prints the single record of the response. */
const record = (member: string, display: SecretDisplay = "shown"): PrintingHandler => ({
  print: (response) => recordTable(memberOf(response, member), display),
});

/** Prints the list of a response as a table with these fields, and how to get the next page. */
const list = (
  member: string,
  fields: readonly string[],
  display: SecretDisplay = "masked",
): PrintingHandler => ({
  print: (response) => recordsTable(memberOf(response, member), fields, display) + moreLine(response),
});

/** A list with secrets, which `--reveal` shows. */
const revealable = (member: string, fields: readonly string[]): PrintingHandler => ({
  options: (command) => command.option("--reveal", "show the text of secrets"),
  print: (response, { reveal }) =>
    recordsTable(memberOf(response, member), fields, reveal ? "shown" : "masked"),
});

const deleted = (id: string): PrintingHandler => ({
  print: (_, options) => `deleted ${printable(String(options[id]))}\n`,
});

function keyTable(response: unknown): string {
  const { secrets, ...key } = memberOf(response, "api_key") as { readonly secrets: readonly unknown[] };
  return recordTable({ ...key, secrets: secrets.length }, "masked");
}

const key: PrintingHandler = { print: keyTable };
const keyWithSecret: PrintingHandler = {
  print: (response) => `${keyTable(response)}\nThe text of the key is shown this once:\n`,
  secret: "secret",
};

/** Reads a subscription from a file or from flags. */
const subscription = (isRequired: boolean): Additions => ({
  options: withSubscriptionOptions,
  async fields(options) {
    const subscription = await subscriptionOf(options);
    if (subscription !== undefined) return { subscription };
    if (isRequired)
      throw new UserError("a subscription is required: --subscription <file.json>, or --on <kinds>");
    return {};
  },
});

/** Formats how many users a change of bans affected. */
function changed(response: unknown): string {
  const count = Number(memberOf(response, "changed"));
  return count === 1 ? "1 user" : `${count} users`;
}

const COUNTS = ["success_count", "failure_count", "not_attempted_count"];
const CAMPAIGN_FIELDS = ["campaign_id", "status", "audience_count", ...COUNTS, "created_at", "completed_at"];

/** Returns a schedule without its texts and campaigns, which do not fit into a table. */
function withoutParts(schedule: unknown): Readonly<Record<string, unknown>> {
  const { texts: _, waves, ...facts } = Object(schedule);
  return { ...facts, campaigns: Array.isArray(waves) ? waves.length : 0 };
}

/** To the service an empty list means everyone; here it is a mistake. */
function refuseNoTargets({ targetFids }: Fields): Fields {
  if (Array.isArray(targetFids) && targetFids.length === 0)
    throw new UserError("--target-fids has no fid; leave it out for all users");
  return {};
}

/** Warns about the manifest of an app that has never sent. */
async function warnBeforeFirstSend(client: ManagementClient, { app_id }: Fields): Promise<void> {
  const query = { app_id: String(app_id) };
  const { campaigns } = Object(await client.call("listAppCampaigns", { query: { ...query, limit: "1" } }));
  if (!Array.isArray(campaigns) || campaigns.length > 0) return;
  const { app } = Object(await client.call("getApp", { query }));
  await warnOfManifest(client.node, String(Object(app).app_url));
}

export type CommandId = (typeof commands)[number]["id"];

export const HANDLERS: Readonly<Record<CommandId, PrintingHandler | CallingHandler>> = {
  createApp: {
    ...record("app"),
    after: async (client, response) =>
      warnOfManifest(client.node, String(Object(memberOf(response, "app")).app_url)),
  },
  getApp: record("app"),
  listApps: revealable("apps", ["app_id", "name", "app_url", "send_secrets", "created_at"]),
  updateApp: record("app", "masked"),
  deleteApp: deleted("app_id"),
  rotateAppSecret: record("app"),
  getAppRetention: list("weeks", ["week", "added", "reachable"]),
  listAppCampaigns: list("campaigns", CAMPAIGN_FIELDS),
  getAppCampaign: {
    print(response) {
      const { client_hosts: hosts, ...campaign } = Object(memberOf(response, "campaign"));
      return `${recordTable(campaign, "shown")}\n${recordsTable(hosts, ["host", ...COUNTS], "shown")}`;
    },
  },
  getAppAudience: {
    print: (response) =>
      [
        recordTable({ total: memberOf(response, "total") }, "shown"),
        recordsTable(
          memberOf(response, "clients"),
          ["client_fid", "host", "enabled", "disabled", "without_token"],
          "shown",
        ),
        recordsTable(
          memberOf(response, "days"),
          ["day", "enabled", "added", "removed", "disabled", "invalidated"],
          "shown",
        ),
      ].join("\n"),
  },
  sendCampaign: {
    fields: refuseNoTargets,
    before: warnBeforeFirstSend,
    print(response) {
      const { schedule } = Object(response);
      return recordTable(schedule === undefined ? response : withoutParts(schedule), "shown");
    },
  },
  listSchedules: list("schedules", ["schedule_id", "state", "first_at", "last_at", "created_at"]),
  cancelSchedule: { print: (response) => recordTable(withoutParts(memberOf(response, "schedule")), "shown") },
  getSendResults: {
    print(response) {
      const { results, clients, variants } = Object(response);
      const tables = [recordsTable(clients, ["client_fid", "delivered", "opened", "verified"], "shown")];
      if (Array.isArray(variants) && variants.length > 0)
        tables.push(recordsTable(variants, ["variant", "delivered", "opened", "verified"], "shown"));
      return [recordTable(results, "shown"), ...tables].join("\n");
    },
  },
  listDrafts: list("drafts", ["draft_id", "name", "updated_at"]),
  deleteDraft: deleted("draft_id"),
  saveSegment: record("segment"),
  listSegments: list("segments", ["segment_id", "name", "updated_at"]),
  deleteSegment: deleted("segment_id"),
  estimateSend: {
    fields: refuseNoTargets,
    print(response) {
      const { clients, ...counts } = Object(response);
      const table = recordsTable(clients, ["client_fid", "host", "tokens"], "shown");
      return `${recordTable(counts, "shown")}\n${table}`;
    },
  },

  createApiKey: keyWithSecret,
  getApiKey: key,
  listApiKeys: list("api_keys", [
    ...["api_key_id", "name", "prefix", "scopes", "active", "expires_at", "last_used_at"],
  ]),
  updateApiKey: key,
  deleteApiKey: deleted("api_key_id"),
  rotateApiKeySecret: keyWithSecret,
  getApiKeyUsage: list("usage", ["day", "route", "requests", "units", "writes", "errors", "limited"]),

  createWebhook: {
    ...subscription(true),
    async fields(options, given) {
      return { owner_fid: options.fid, ...(await subscription(true).fields?.(options, given)) };
    },
    ...record("webhook"),
  },
  getWebhook: record("webhook"),
  listWebhooks: revealable("webhooks", [
    ...["webhook_id", "title", "target_url", "active", "subscription", "secrets", "created_at"],
  ]),
  updateWebhook: { ...subscription(false), ...record("webhook", "masked") },
  deleteWebhook: deleted("webhook_id"),
  rotateWebhookSecret: record("webhook"),
  listWebhookDeliveries: { print: deliveriesTable },
  getWebhookDelivery: { print: deliveryText },
  getWebhookStats: { print: statsTable },
  previewWebhook: { ...subscription(true), print: previewText },
  replayWebhookDeliveries: {
    fields({ messageId, from }) {
      if ((messageId === undefined) === (from === undefined))
        throw new UserError("pass --message-id or --from");
      return {};
    },
    print(response) {
      const isMore = memberOf(response, "more") === true;
      if (memberOf(response, "to_send") !== undefined) return recordTable(response, "shown");
      const count = printable(String(memberOf(response, "replayed")));
      return `queued ${count} again${isMore ? "; there are more, so call again" : ""}\n`;
    },
  },
  getWebhookReplay: record("replay"),
  cancelWebhookReplay: record("replay"),
  testWebhook: list("deliveries", ["message_id", "type"]),

  getManagedSigner: record("signer", "masked"),
  listManagedSigners: { run: listSigners },
  exportManagedSigner: {
    print(response) {
      const { private_key: _, ...rest } = Object(response);
      return recordTable(rest, "masked");
    },
    secret: "private_key",
  },
  deleteManagedSigner: {
    options: (command) => command.option("--all", "erase all managed signers of the fid"),
    run: deleteSigners,
  },

  createNoticeChannel: {
    print: (response) =>
      `${recordTable(memberOf(response, "channel"), "shown")}\nIts secret is shown this once:\n`,
    secret: "secret",
  },
  listNoticeChannels: list("channels", [
    "channel_id",
    "kind",
    "label",
    "host",
    "severity",
    "last_at",
    "last_error",
  ]),
  updateNoticeChannel: record("channel"),
  deleteNoticeChannel: deleted("channel_id"),
  testNoticeChannel: { print: () => "the test is on its way; `notice-channel list` has its result\n" },
  listOwnIncidents: list("incidents", ["incident_id", "check", "severity", "state", "opened_at", "sentence"]),
  acknowledgeOwnIncident: { print: () => "acknowledged\n" },
  createLoginClient: record("login_client"),
  getLoginClient: record("login_client"),
  listLoginClients: list("login_clients", ["client_id", "name", "origins", "permissions", "created_at"]),
  updateLoginClient: record("login_client"),
  deleteLoginClient: deleted("client_id"),

  createManagedSigner: record("signer", "masked"),
  castByManagedSigner: { print: (response) => recordTable(response, "shown") },
  setChannelFollow: {
    fields: ({ following }) => (following === undefined ? { following: true } : {}),
    print: (response) => recordTable(response, "shown"),
  },
  verifyOwnAddress: { print: (response) => recordTable(response, "shown") },

  addAppBans: { print: (response) => `banned ${changed(response)}\n` },
  removeAppBans: { print: (response) => `lifted the bans of ${changed(response)}\n` },
  listAppBans: list("bans", ["fid", "banned_at"]),

  listSessions: list("sessions", [
    ...["session_id", "access", "label", "origin", "created_at", "expires_at", "last_used_at"],
  ]),
  deleteSession: {
    fields({ all }, { session_id }) {
      if ((all === true) === (session_id !== undefined))
        throw new UserError("give either a session_id or --all");
      return {};
    },
    print: () => "ended\n",
  },

  listAuditEntries: list("entries", [
    ...["at", "action", "outcome", "fid", "api_key_id", "signer_uuid", "hash", "record_id"],
    ...["address", "request_id"],
  ]),
};
