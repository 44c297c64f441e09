import type { Severity } from "../../checks/check.ts";
import { bytes, index, json, key, nullable, table, text, whole, withDefault } from "../../db/state/table.ts";
import type { Notice } from "../notice.ts";
import type { QuietHours } from "../quiet-hours.ts";

/** Channels that notices of incidents are sent to. Times are unix seconds. */
export const noticeChannels = table(
  "notice_channels",
  {
    channel_id: key(text()),
    kind: text<"push" | "hook">(),
    label: text(),
    /** Host of the target's URL. */
    host: text(),
    /** JSON of the target. Sealed under the master key `key_id`, or plain if `key_id` is empty. */
    secret: bytes(),
    key_id: text(),
    /** Lowest severity that the channel receives. */
    severity: text<Severity>(),
    /** Checks that the channel receives. Empty: all. */
    checks: json<readonly string[]>(),
    quiet: nullable(json<QuietHours>()),
    created_at: whole(),
    /** When the channel has to be called next. Null if nothing is due. */
    due_at: nullable(whole()),
    /** Until then, the node that claimed the channel may call it. */
    leased_until: whole(),
    /** Number of claims so far. A node whose lease has expired fails to settle because of it. */
    claims: whole(),
    /** Consecutive failures. */
    attempts: whole(),
    /** Hour of the last notice, and the number of notices sent in that hour. */
    hour: whole(),
    sent: whole(),
    last_at: nullable(whole()),
    /** Error of the last call. Empty if it succeeded. */
    last_error: nullable(text()),
    /** The fid that owns the channel; 0 for the operator. */
    owner_fid: withDefault(whole(), 0),
    /** Custody address of the owner when the channel was added. Null for the operator's channels and for those older than this column. */
    custody: nullable(bytes()),
  },
  {
    indexes: [
      index("notice_channels_due", ["due_at"]),
      index("notice_channels_by_owner", ["owner_fid", "channel_id"]),
    ],
  },
);

/** Notices to send: only the latest state of each incident per channel. */
export const notices = table(
  "notices",
  {
    channel_id: text(),
    /** Empty for a test. */
    incident_id: text(),
    /** Identifies this notice: a later notice of the same incident replaces it. */
    sent_at: whole(),
    due_at: whole(),
    content: json<Notice>(),
  },
  { key: ["channel_id", "incident_id"] },
);

/** The key by which push services identify all nodes of a state. */
export const vapidKeys = table("vapid_keys", {
  public_key: key(text()),
  /** Stored like the secret of a channel. */
  secret: bytes(),
  key_id: text(),
  created_at: whole(),
});
