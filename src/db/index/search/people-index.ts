import type { IndexDatabase } from "../database.ts";
import { clearMeta, readMeta, writeMeta } from "../meta.ts";
import { statement } from "../statement.ts";
import { indexPerson, PEOPLE, type Person } from "./people-changes.ts";

/** Set while the index of people is incomplete: to the last fid that it has. The migration that creates it sets it to 0. */
const KEY = "people";
const PEOPLE_PER_STEP = 5000;

const peopleAfter = statement<Person, [fid: number, limit: number]>(
  "people.after",
  `${PEOPLE} AND fid > ? GROUP BY fid ORDER BY fid LIMIT ?`,
);
const deleteAll = statement<unknown>(
  "people.delete-all",
  "INSERT INTO people_fts (people_fts) VALUES ('delete-all')",
);

/** Reports whether the index of people is incomplete. */
export function lacksPeople(db: IndexDatabase): boolean {
  return readMeta(db, KEY) !== undefined;
}

/** Does one step of a rebuild in its own transaction. Returns whether there is more to do. */
export function rebuildPeople(db: IndexDatabase): boolean {
  const mark = readMeta(db, KEY);
  if (mark === undefined) return false;
  return db.transaction(() => {
    const last = indexPeople(db, Number(mark), PEOPLE_PER_STEP);
    if (last === undefined) clearMeta(db, KEY);
    else writeMeta(db, KEY, String(last));
    return last !== undefined;
  });
}

/**
 * Indexes at most `limit` people after an fid, in a transaction of the caller. The first step, after fid 0, empties the
 * index. Returns the last fid, or undefined at the end.
 */
export function indexPeople(db: IndexDatabase, after: number, limit: number): number | undefined {
  if (after === 0) db.run(deleteAll);
  const people = db.all(peopleAfter, after, limit);
  for (const person of people) indexPerson(db, person);
  return people.length < limit ? undefined : people.at(-1)?.fid;
}

/** Records that the index of people is complete. */
export function markPeopleIndexed(db: IndexDatabase): void {
  clearMeta(db, KEY);
}
