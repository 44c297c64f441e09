import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { NotificationKind } from "../../src/db/index/project/notifications.ts";
import { MessageType, ReactionType } from "../../src/protocol/wire/generated/message.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { IS_LONG } from "../support/long.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, signMessage, type TestData } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";
import {
  type Act,
  type ExpectedEntry,
  expectedEntries,
  type ResponseEntry,
  toModelForm,
} from "../support/notification-model.ts";
import { hashOf, linkMessage, reactionMessage } from "../support/social.ts";

const WINDOW_SECS = 60;
const ACTORS = [1, 2, 3, 4, 5];
/** Acts happen within these seconds, so that windows meet, touch and chain. */
const SPAN_SECS = 240;
const START = DEFAULT_TIMESTAMP - 10_000;
const START_UNIX = DEFAULT_NOW_SECS - 10_000;

let api: TestApi;
let nextViewer = 1000;

beforeAll(async () => {
  api = await startTestApi({ notificationWindowSecs: WINDOW_SECS });
  for (const fid of ACTORS) api.node.ingestAll(accountRecords(fid, 10));
});
afterAll(() => api[Symbol.asyncDispose]());

function take(message: Uint8Array): void {
  expect(api.node.ingestMessage(message)).toBe("ok");
}

function sign(fid: number, data: TestData): Uint8Array {
  return signMessage({ fid, ...data }, accountSigner(fid));
}

type Op =
  | { op: "react"; kind: "like" | "recast"; actor: number; target: number; at: number }
  | { op: "follow"; actor: number; at: number }
  | { op: "mention" | "reply"; actor: number; target: number; at: number }
  | { op: "undo"; nth: number }
  | { op: "silence"; type: "block" | "mute"; actor: number }
  | { op: "hear"; nth: number }
  | { op: "drop cast"; target: number };

const at = fc.nat(SPAN_SECS);
const actor = fc.constantFrom(...ACTORS);
const target = fc.nat(3);
const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 36,
    arbitrary: fc.record({
      op: fc.constant("react" as const),
      kind: fc.constantFrom("like" as const, "recast" as const),
      actor,
      target,
      at,
    }),
  },
  { weight: 9, arbitrary: fc.record({ op: fc.constant("follow" as const), actor, at }) },
  {
    weight: 9,
    arbitrary: fc.record({ op: fc.constantFrom("mention" as const, "reply" as const), actor, target, at }),
  },
  { weight: 9, arbitrary: fc.record({ op: fc.constant("undo" as const), nth: fc.nat() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant("silence" as const),
      type: fc.constantFrom("block" as const, "mute" as const),
      actor,
    }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant("hear" as const), nth: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("drop cast" as const), target }) },
);

/** A viewer with four casts, and the acts that affect it. */
class World {
  readonly viewer = nextViewer++;
  readonly #casts: `0x${string}`[] = [];
  readonly #acts = new Map<string, Act & { undo: () => void }>();
  readonly #used = new Set<string>();
  readonly #silenced = new Map<number, { type: string; at: number }>();
  readonly #dropped = new Set<string>();
  #clock = SPAN_SECS + 10;
  #serial = 0;

  constructor(casts = 4) {
    api.node.ingestAll(accountRecords(this.viewer));
    for (let n = 0; n < casts; n++) this.#casts.push(this.#cast(this.viewer, { text: `own ${n}` }, -100));
  }

  /** The expected entries of the viewer. */
  acts(): Act[] {
    return [...this.#acts.values()].filter(
      (act) =>
        !this.#silenced.has(act.actor) &&
        !(
          (act.kind === NotificationKind.Like || act.kind === NotificationKind.Recast) &&
          this.#dropped.has(act.cast ?? "")
        ),
    );
  }

  do(op: Op): void {
    switch (op.op) {
      case "react":
        this.react(op.kind, op.actor, op.target, op.at);
        return;
      case "follow":
        this.#follow(op.actor, op.at);
        return;
      case "mention":
      case "reply":
        this.#mentionOrReply(op.op, op);
        return;
      case "undo": {
        const key = [...this.#acts.keys()][op.nth % Math.max(1, this.#acts.size)];
        if (key === undefined) return;
        this.#acts.get(key)?.undo();
        this.#acts.delete(key);
        return;
      }
      case "silence": {
        if (this.#silenced.has(op.actor)) return;
        take(linkMessage(this.viewer, op.type, op.actor, { at: START + this.#clock++ }));
        this.#silenced.set(op.actor, { type: op.type, at: this.#clock });
        return;
      }
      case "hear": {
        const [fid, link] = [...this.#silenced][op.nth % Math.max(1, this.#silenced.size)] ?? [];
        if (fid === undefined || !link) return;
        take(linkMessage(this.viewer, link.type, fid, { remove: true, at: START + this.#clock++ }));
        this.#silenced.delete(fid);
        return;
      }
      case "drop cast": {
        const hash = this.#casts[op.target];
        if (hash === undefined || this.#dropped.has(hash)) return;
        this.#removeCast(this.viewer, hash);
        this.#dropped.add(hash);
      }
    }
  }

  react(kind: "like" | "recast", actor: number, target: number, at: number): void {
    const hash = this.#casts[target];
    const key = `${kind} ${actor} ${target}`;
    if (hash === undefined || this.#used.has(key)) return;
    const type = kind === "like" ? ReactionType.REACTION_TYPE_LIKE : ReactionType.REACTION_TYPE_RECAST;
    const to = { fid: this.viewer, hash };
    take(reactionMessage(actor, type, to, { at: START + at }));
    this.#add(key, {
      kind: kind === "like" ? NotificationKind.Like : NotificationKind.Recast,
      actor,
      at: START_UNIX + at,
      cast: hash,
      undo: () => take(reactionMessage(actor, type, to, { remove: true, at: START + this.#clock++ })),
    });
  }

  #follow(actor: number, at: number): void {
    const key = `follow ${actor}`;
    if (this.#used.has(key)) return;
    take(linkMessage(actor, "follow", this.viewer, { at: START + at }));
    this.#add(key, {
      kind: NotificationKind.Follow,
      actor,
      at: START_UNIX + at,
      cast: null,
      undo: () =>
        take(linkMessage(actor, "follow", this.viewer, { remove: true, at: START + this.#clock++ })),
    });
  }

  #mentionOrReply(
    kind: "mention" | "reply",
    { actor, target, at }: { actor: number; target: number; at: number },
  ) {
    const parent = this.#casts[target];
    if (parent === undefined) return;
    const value = { fid: this.viewer, hash: Buffer.from(parent.slice(2), "hex") };
    const text = `${this.viewer} ${this.#serial++}`;
    const hash = this.#cast(
      actor,
      kind === "mention"
        ? { text, mentions: [this.viewer], mentionsPositions: [0] }
        : // A reply that also mentions is one reply.
          {
            text,
            mentions: [this.viewer],
            mentionsPositions: [1],
            parent: { $case: "parentCastId", value },
          },
      at,
    );
    this.#add(hash, {
      kind: kind === "mention" ? NotificationKind.Mention : NotificationKind.Reply,
      actor,
      at: START_UNIX + at,
      cast: hash,
      undo: () => this.#removeCast(actor, hash),
    });
  }

  #add(key: string, act: Act & { undo: () => void }): void {
    this.#used.add(key);
    this.#acts.set(key, act);
  }

  #cast(
    fid: number,
    value: NonNullable<Extract<TestData["body"], { $case?: "castAddBody" }>>["value"],
    at: number,
  ): `0x${string}` {
    const message = sign(fid, {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      timestamp: START + at,
      body: { $case: "castAddBody", value },
    });
    take(message);
    return hashOf(message);
  }

  #removeCast(fid: number, hash: `0x${string}`): void {
    const targetHash = Buffer.from(hash.slice(2), "hex");
    take(
      sign(fid, {
        type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
        timestamp: START + this.#clock++,
        body: { $case: "castRemoveBody", value: { targetHash } },
      }),
    );
  }
}

async function walk(
  viewer: number,
  limit: number,
  betweenPages: () => void = () => {},
): Promise<ExpectedEntry[]> {
  const entries: ExpectedEntry[] = [];
  let cursor: string | null = null;
  do {
    const more: string = cursor === null ? "" : `&cursor=${cursor}`;
    const { status, body } = await api.get(`/notifications?fid=${viewer}&limit=${limit}${more}`);
    expect(status).toBe(200);
    const page = body.notifications as ResponseEntry[];
    ({ cursor } = body.next as { cursor: string | null });
    expect(page.length === limit || cursor === null).toBe(true);
    entries.push(...page.map(toModelForm));
    betweenPages();
  } while (cursor !== null);
  return entries;
}

test("pages of any size concatenate to the list of the model", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 5, maxLength: 70 }), async (ops) => {
      const world = new World();
      for (const op of ops) world.do(op);
      const expected = expectedEntries(world.acts(), WINDOW_SECS);
      for (const limit of [1, 3, 100]) expect(await walk(world.viewer, limit)).toEqual(expected);
    }),
    { numRuns: IS_LONG ? 100 : 10 },
  );
}, 180_000);

const keyOf = (act: { kind: NotificationKind; actor: number; at: number; cast: string | null }) =>
  `${act.kind} ${act.actor} ${act.at} ${act.cast}`;

/** The acts in entries; no group of these tests has more than an entry lists. */
function shownActs(entries: readonly ExpectedEntry[]): string[] {
  return entries.flatMap(({ acts, cast, type, most_recent_timestamp: at }) =>
    acts.length > 0 ? acts.map((act) => keyOf({ ...act, cast })) : [`${type} ${at} ${cast}`],
  );
}

function keyAsShown(act: Act): string {
  if (act.kind === NotificationKind.Mention) return `cast-mention ${act.at} ${act.cast}`;
  if (act.kind === NotificationKind.Reply) return `cast-reply ${act.at} ${act.cast}`;
  return keyOf(act);
}

test("with any writes between pages, an act that remains is returned once, and no act twice", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(op, { minLength: 20, maxLength: 70 }),
      fc.infiniteStream(fc.array(op, { maxLength: 4 })),
      fc.constantFrom(1, 1, 2, 3),
      async (ops, writes, limit) => {
        const world = new World();
        for (const op of ops) world.do(op);
        let staying = new Set(world.acts().map(keyAsShown));
        const seen = new Set<string>();
        const entries = await walk(world.viewer, limit, () => {
          for (const act of world.acts()) seen.add(keyAsShown(act));
          for (const op of writes.next().value ?? []) {
            world.do(op);
            const now = new Set(world.acts().map(keyAsShown));
            staying = staying.intersection(now);
          }
        });
        const shown = shownActs(entries);
        expect(shown.filter((act, index) => shown.indexOf(act) !== index)).toEqual([]);
        expect([...staying].filter((act) => !shown.includes(act))).toEqual([]);
        expect(shown.filter((act) => !seen.has(act))).toEqual([]);
      },
    ),
    { numRuns: IS_LONG ? 120 : 12 },
  );
}, 180_000);

test("with more open windows than a cursor holds, the pages still concatenate to the list of the model", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ actor, target: fc.nat(59), at }), { minLength: 150, maxLength: 200 }),
      async (likes) => {
        const world = new World(60);
        for (const { actor, target, at } of likes) world.react(at % 2 ? "like" : "recast", actor, target, at);
        const expected = expectedEntries(world.acts(), WINDOW_SECS);
        for (const limit of [7, 40]) expect(await walk(world.viewer, limit)).toEqual(expected);
      },
    ),
    { numRuns: IS_LONG ? 20 : 2 },
  );
}, 180_000);
