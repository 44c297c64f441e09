import { batch, type Signal, signal } from "@preact/signals";
import { get, type User } from "./call.ts";
import { request } from "./request.ts";

const WAIT_MS = 50;
/** Maximum number of users in one request. */
const MAX_ASKED = 100;
const MAX_KEPT = 1000;

const people = new Map<number, Signal<User | undefined>>();
const waiting: number[] = [];

async function ask(): Promise<void> {
  const fids = waiting.splice(0, MAX_ASKED);
  if (waiting.length > 0) void ask();
  try {
    const { users } = await request(get("/user/bulk", { fids }));
    batch(() => {
      for (const user of users) {
        const person = people.get(user.fid);
        if (person) person.value = user;
      }
    });
  } catch {
    // The rows show the fids; the next row asks again.
    for (const fid of fids) people.delete(fid);
  }
}

/** Returns the user of an fid; undefined until the node has responded, or if it has none. Rows that appear together make one request. */
export function knownPerson(fid: number): User | undefined {
  const known = people.get(fid);
  if (known) return known.value;
  const person = signal<User | undefined>(undefined);
  people.set(fid, person);
  for (const old of people.keys()) {
    if (people.size <= MAX_KEPT) break;
    people.delete(old);
  }
  if (waiting.push(fid) === 1) setTimeout(ask, WAIT_MS);
  return person.value;
}
