import { sql } from "../../db/state/sql.ts";
import type { StateDb } from "../../db/state/state-db.ts";
import type { Row } from "../../db/state/table.ts";
import type { NoticeChannel } from "./queue-notices.ts";
import type { noticeChannels } from "./tables.ts";

/** Assigns a custody address to owners' channels that were created before the column existed. */
export interface ChannelBinding {
  /** Lists channels without a custody address. */
  listUnbound(): Promise<readonly Pick<NoticeChannel, "channelId" | "ownerFid">[]>;
  /** Assigns a custody address to such a channel. Returns false, without a change, if the channel already has one or was removed. */
  bind(channelId: string, custody: Uint8Array): Promise<boolean>;
}

const unbound = sql<Pick<Row<typeof noticeChannels>, "channel_id" | "owner_fid">>(
  "notices.unbound",
  "SELECT channel_id, owner_fid FROM notice_channels WHERE owner_fid > 0 AND custody IS NULL",
);
const setCustody = sql<unknown, [custody: Uint8Array, id: string]>(
  "notices.bind",
  "UPDATE notice_channels SET custody = $1 WHERE channel_id = $2 AND custody IS NULL",
);

export function createChannelBinding(db: StateDb): ChannelBinding {
  return {
    listUnbound: async () =>
      (await db.all(unbound)).map((row) => ({ channelId: row.channel_id, ownerFid: row.owner_fid })),
    bind: db.decision<Parameters<ChannelBinding["bind"]>, boolean>(
      "notices.bind",
      async (tx, channelId, custody) => (await tx.run(setCustody, custody, channelId)) === 1,
    ),
  };
}
