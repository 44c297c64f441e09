import { channelIdOf, parentUrlsOf } from "../../../protocol/channel-url.ts";
import { timestampOfCastId } from "../cast-id.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";
import { findUrlId } from "./cast-references/named-ids.ts";

const addMember = statement<unknown, [channelId: string, fid: number, at: number]>(
  "project.channels.add-member",
  `INSERT INTO channel_members (channel_id, fid, casts, last_cast_at) VALUES (?1, ?2, 1, ?3)
   ON CONFLICT (channel_id, fid) DO UPDATE SET casts = casts + 1, last_cast_at = max(last_cast_at, ?3)`,
);
const memberCasts = statement<{ casts: number }, [channelId: string, fid: number]>(
  "project.channels.member-casts",
  "SELECT casts FROM channel_members WHERE channel_id = ? AND fid = ?",
);
const setMember = statement<unknown, [channelId: string, fid: number, lastCastAt: number]>(
  "project.channels.set-member",
  "UPDATE channel_members SET casts = casts - 1, last_cast_at = ?3 WHERE channel_id = ?1 AND fid = ?2",
);
const deleteMember = statement<unknown, [channelId: string, fid: number]>(
  "project.channels.delete-member",
  "DELETE FROM channel_members WHERE channel_id = ? AND fid = ?",
);
const addActivity = statement<unknown, [channelId: string, at: number, newMembers: number]>(
  "project.channels.add-activity",
  `INSERT INTO channel_activity (id, casts, members, first_cast_at) VALUES (?1, 1, ?3, ?2)
   ON CONFLICT (id) DO UPDATE SET
     casts = casts + 1, members = members + ?3, first_cast_at = min(first_cast_at, ?2)`,
);
const activityOf = statement<{ casts: number }, [channelId: string]>(
  "project.channels.activity",
  "SELECT casts FROM channel_activity WHERE id = ?",
);
const setActivity = statement<unknown, [channelId: string, firstCastAt: number, lostMembers: number]>(
  "project.channels.set-activity",
  "UPDATE channel_activity SET casts = casts - 1, members = members - ?3, first_cast_at = ?2 WHERE id = ?1",
);
const deleteActivity = statement<unknown, [channelId: string]>(
  "project.channels.delete-activity",
  "DELETE FROM channel_activity WHERE id = ?",
);
const lastCastOf = statement<{ id: number | null }, [fid: number, parentUrlId: number]>(
  "project.channels.last-cast-of",
  "SELECT max(id) AS id FROM casts WHERE fid = ? AND parent_url_id = ?",
);
const firstCastUnder = statement<{ id: number | null }, [parentUrlId: number]>(
  "project.channels.first-cast-under",
  "SELECT min(id) AS id FROM casts WHERE parent_url_id = ?",
);

/** Counts a cast directly under a channel's URL. Call it after the cast's row was inserted. */
export function addToChannel(db: IndexDatabase, parentUrl: string, fid: number, at: number): void {
  const id = channelIdOf(parentUrl);
  const isNew = db.get(memberCasts, id, fid) === undefined;
  db.run(addMember, id, fid, at);
  db.run(addActivity, id, at, isNew ? 1 : 0);
  db.invalidations.channel(id);
}

/** Reverses `addToChannel`. Call it after the cast's row was deleted. */
export function dropFromChannel(db: IndexDatabase, parentUrl: string, fid: number): void {
  const id = channelIdOf(parentUrl);
  const urlIds = parentUrlsOf(id).flatMap((url) => findUrlId(db, url) ?? []);
  const lost = db.get(memberCasts, id, fid)?.casts === 1;
  if (lost) db.run(deleteMember, id, fid);
  else
    db.run(setMember, id, fid, Math.max(...timesOf(urlIds.map((urlId) => db.get(lastCastOf, fid, urlId)))));
  db.invalidations.channel(id);
  if (db.get(activityOf, id)?.casts === 1) {
    db.run(deleteActivity, id);
    return;
  }
  const first = timesOf(urlIds.map((urlId) => db.get(firstCastUnder, urlId)));
  db.run(setActivity, id, Math.min(...first), lost ? 1 : 0);
}

function timesOf(rows: readonly ({ id: number | null } | undefined)[]): number[] {
  return rows.flatMap((row) => (row?.id == null ? [] : timestampOfCastId(row.id)));
}
