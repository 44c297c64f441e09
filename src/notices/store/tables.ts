import type { Severity } from "../../checks/check.ts";
import { bytes, index, json, key, nullable, table, text, whole, withDefault } from "../../db/state/table.ts";
import type { Notice } from "../notice.ts";
import type { QuietHours } from "../quiet-hours.ts";

/** Where notices of incidents go. Times are unix seconds. */
export const noticeChannels = table(
  "notice_channels",
  {
    channel_id: key(text()),
    kind: text<"push" | "hook">(),
    label: text(),
    /** The host that it calls. */
    host: text(),
    /** The JSON of its target, sealed under the master key `key_id` if that is not empty. */
    secret: bytes(),
    key_id: text(),
    /** The lowest severity that it gets. */
    severity: text<Severity>(),
    /** The checks that it gets; empty: all. */
    checks: json<readonly string[]>(),
    quiet: nullable(json<QuietHours>()),
    created_at: whole(),
    /** When it has something to do; null while it has not. */
    due_at: nullable(whole()),
    /** Until then a node calls it. */
    leased_until: whole(),
    /** How often it was claimed: a node that took too long settles nothing. */
    claims: whole(),
    /** Failures in a row. */
    attempts: whole(),
    /** The hour of the last notice, and how many it had in it. */
    hour: whole(),
    sent: whole(),
    last_at: nullable(whole()),
    /** The fault of the last call; empty when it was taken. */
    last_error: nullable(text()),
    /** The fid whose channel it is; 0 for the operator's. */
    owner_fid: withDefault(whole(), 0),
    /** The owner's custody address when it was added; null of the operator's, and of one of before it was kept. */
    custody: nullable(bytes()),
  },
  {
    indexes: [
      index("notice_channels_due", ["due_at"]),
      index("notice_channels_by_owner", ["owner_fid", "channel_id"]),
    ],
  },
);

/** What a channel has to be sent: the last state of an incident, once. */
export const notices = table(
  "notices",
  {
    channel_id: text(),
    /** Empty for a test. */
    incident_id: text(),
    /** Names this notice; a later one of the incident replaces it. */
    sent_at: whole(),
    due_at: whole(),
    content: json<Notice>(),
  },
  { key: ["channel_id", "incident_id"] },
);

/** The key by which push services know the nodes of a state. */
export const vapidKeys = table("vapid_keys", {
  public_key: key(text()),
  /** As that of a channel. */
  secret: bytes(),
  key_id: text(),
  created_at: whole(),
});
