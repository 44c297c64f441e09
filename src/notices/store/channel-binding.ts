import { sql } from "../../db/state/sql.ts";
import type { StateDb } from "../../db/state/state-db.ts";
import type { Row } from "../../db/state/table.ts";
import type { NoticeChannel } from "./queue-notices.ts";
import type { noticeChannels } from "./tables.ts";

/** Gives a custody address to the channels of owners that were made before it was kept. */
export interface ChannelBinding {
  /** Those without an address. */
  listUnbound(): Promise<readonly Pick<NoticeChannel, "channelId" | "ownerFid">[]>;
  /** Gives such a channel its address. False, without a change, where it has one or was removed. */
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
