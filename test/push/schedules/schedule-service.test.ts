import { afterEach, beforeEach, expect, test } from "bun:test";
import { createAppService } from "../../../src/apps/app-service.ts";
import { openState, type StateDatabase, statePath } from "../../../src/db/state/database.ts";
import { ok } from "../../../src/lib/result.ts";
import { createSavedService } from "../../../src/push/saved-service.ts";
import { createScheduleService } from "../../../src/push/schedules/schedule-service.ts";
import { ManualClock } from "../../support/clock.ts";
import { tempDir } from "../../support/program.ts";
import { expectErr, expectOk } from "../../support/result.ts";
import { APP_ID, testApp } from "../../support/send.ts";
import { localStores } from "../../support/state-stores.ts";

const START = 1_000_000;
const MAX_CHARS = 256 * 1024;
const owner = { fid: 3, custody: new Uint8Array(20).fill(7) };

let dir: ReturnType<typeof tempDir>;
let db: StateDatabase;
let clock: ManualClock;
let stores: ReturnType<typeof localStores>;
beforeEach(async () => {
  dir = tempDir();
  db = openState(statePath(dir.path));
  clock = new ManualClock(START);
  stores = localStores(db, { clock });
  await stores.apps.create(testApp(), 10);
});
afterEach(() => {
  db[Symbol.dispose]();
  dir[Symbol.dispose]();
});

function service() {
  const apps = createAppService({
    store: stores.apps,
    guard: { check: async () => ok(undefined) },
    clock,
    settings: { cap: 10, graceSecs: 60 },
  });
  return createScheduleService({
    apps,
    schedules: stores.schedules,
    saved: createSavedService({ apps, saved: stores.saved, clock }),
    sends: {
      async create() {
        throw new Error("a scheduled send starts no campaign");
      },
    },
    clock,
  });
}

const notification = { title: "T", body: "B", target_url: "https://app.example" };
function send(fields: object) {
  const body = { app_id: APP_ID, notification, ...fields };
  return service().send(owner, body, new TextEncoder().encode(JSON.stringify(body)));
}

/** Schedules a send to all but `excluded` people. */
const schedule = ({ excluded = 0, bodyChars = 1 }) =>
  send({
    notification: { ...notification, body: "x".repeat(bodyChars) },
    send_at: START + 60,
    exclude_fids: Array.from({ length: excluded }, (_, at) => 1_000_000 + at),
  });

const storedChars = () =>
  db.sqlite
    .query<{ chars: number }, []>("SELECT length(content) AS chars FROM schedules ORDER BY seq DESC LIMIT 1")
    .get()?.chars ?? 0;

test("the content of a schedule may have 256 KiB, and not a character more", async () => {
  expectOk(await schedule({ excluded: 1 }));
  const charsOfFid = ",1000000".length;
  const rest = MAX_CHARS - storedChars();
  const most = { excluded: 1 + Math.floor(rest / charsOfFid), bodyChars: 1 + (rest % charsOfFid) };
  expectOk(await schedule(most));
  expect(storedChars()).toBe(MAX_CHARS);
  expect(expectErr(await schedule({ ...most, bodyChars: most.bodyChars + 1 }))).toMatchObject({
    message: "a scheduled send names too many fids: save them as a segment, or send it to parts of them",
  });
});

test("the list of its segment does not count, which has a bound of its own", async () => {
  // Two bytes for each fid.
  const fids = Array.from({ length: 100_000 }, (_, at) => at * 1_000);
  const segment = { itemId: "people", appId: APP_ID, kind: "segment" as const, createdAt: 1, updatedAt: 1 };
  const bounds = { items: 1, chars: 4 * 1024 * 1024 };
  const content = { name: "People", filter: { fids } };
  expect(await stores.saved.put({ ...segment, content }, bounds)).toBe("stored");
  expectOk(await send({ send_at: START + 60, segment_id: "people" }));
  expect(storedChars()).toBeGreaterThan(MAX_CHARS);
});

test("a schedule has a wave for each text at each time, numbered by time", async () => {
  const local_time = "1970-01-20T07:00";
  const sent = expectOk(
    await send({ local_time, variants: [{ title: "A" }, { title: "B" }, { title: "C" }] }),
  );
  if (!("schedule" in sent)) throw new Error("it is scheduled");
  const { waves, content } = sent.schedule;
  expect(content.times.length).toBeGreaterThan(30);
  expect(waves.map(({ wave, dueAt, variant }) => ({ wave, dueAt, variant }))).toEqual(
    content.times.flatMap((dueAt, place) =>
      [0, 1, 2].map((variant) => ({ wave: 3 * place + variant, dueAt, variant })),
    ),
  );
});
