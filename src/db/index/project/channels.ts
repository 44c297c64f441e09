import { channelIdOf, parentUrlsOf } from "../../../protocol/channel-url.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

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
const lastCastOf = statement<{ at: number }, [fid: number, parentUrl: string]>(
  "project.channels.last-cast-of",
  "SELECT timestamp AS at FROM casts WHERE fid = ? AND parent_url = ? ORDER BY timestamp DESC LIMIT 1",
);
const firstCastUnder = statement<{ at: number }, [parentUrl: string]>(
  "project.channels.first-cast-under",
  "SELECT timestamp AS at FROM casts WHERE parent_url = ? ORDER BY timestamp LIMIT 1",
);

/** Counts a cast directly under a channel's URL. Call it after the cast's row was inserted. */
export function addToChannel(db: IndexDatabase, parentUrl: string, fid: number, at: number): void {
  const id = channelIdOf(parentUrl);
  const isNew = db.get(memberCasts, id, fid) === undefined;
  db.run(addMember, id, fid, at);
  db.run(addActivity, id, at, isNew ? 1 : 0);
  db.invalidations.channel(id);
}

/** The reverse of `addToChannel`. Call it after the cast's row was deleted. */
export function dropFromChannel(db: IndexDatabase, parentUrl: string, fid: number): void {
  const id = channelIdOf(parentUrl);
  const urls = parentUrlsOf(id);
  const lost = db.get(memberCasts, id, fid)?.casts === 1;
  if (lost) db.run(deleteMember, id, fid);
  else db.run(setMember, id, fid, Math.max(...urls.map((url) => db.get(lastCastOf, fid, url)?.at ?? 0)));
  db.invalidations.channel(id);
  if (db.get(activityOf, id)?.casts === 1) {
    db.run(deleteActivity, id);
    return;
  }
  const first = urls.flatMap((url) => db.get(firstCastUnder, url)?.at ?? []);
  db.run(setActivity, id, Math.min(...first), lost ? 1 : 0);
}
