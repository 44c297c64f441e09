import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type IndexDatabase, indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { CommitSequence } from "../../src/db/index/log/commit-sequence.ts";
import { UserDataType } from "../../src/protocol/wire/generated/message.ts";
import { HydrationCache } from "../../src/read/hydrate/cache.ts";
import { presentUser } from "../../src/read/present/compat/user.ts";
import { type ReadSource, runQuery } from "../../src/read/run-query.ts";
import { keyAddedEvent } from "../support/envelopes.ts";
import { createGraph, type Graph, type Posted } from "../support/graph.ts";
import { makeWallet } from "../support/messages.ts";
import { startTestNode, type TestNode } from "../support/node.ts";

/** A reader that shares the commit numbers of the writer, as in a node. */

let node: TestNode;
let graph: Graph;
let cast: Posted;
let db: IndexDatabase;
let source: ReadSource;
let ran: string[];

beforeEach(() => {
  node = startTestNode();
  node.db.commits = new CommitSequence();
  graph = createGraph(node);
  for (const fid of [1, 2, 3]) graph.account(fid);
  cast = graph.post(1, 10, { text: "one" });
  db = openIndexReader(indexPath(node.dir));
  ran = [];
  db.onStatement = (name) => ran.push(name);
  source = {
    db,
    cache: new HydrationCache(new CommitSequence(node.db.commits.shared)),
    clock: node.clock,
    maxIds: 10,
    notificationWindowSecs: 1,
    fullText: true,
  };
});

afterEach(() => {
  db[Symbol.dispose]();
  node[Symbol.dispose]();
});

/** Reads the likes of the cast; `skeleton` runs within the read. */
const likes = (skeleton: () => unknown = () => undefined) =>
  runQuery(
    source,
    skeleton,
    () => ({ hashes: [cast.hash] }),
    (_, { casts }) => casts.get(cast.hash)?.likes,
  );

describe("a read of cached objects", () => {
  test("runs no statement while nothing was committed", () => {
    expect(likes()).toBe(0);
    ran.length = 0;
    expect(likes()).toBe(0);
    expect(ran).toEqual([]);
  });

  test("shows each commit that ended before it", () => {
    for (const fid of [1, 2, 3]) {
      graph.like(fid, 20 + fid, cast);
      expect(likes()).toBe(fid);
    }
  });

  test("uses the snapshot during a commit", () => {
    likes();
    node.db.commits?.begin();
    ran.length = 0;
    expect(likes()).toBe(0);
    expect(ran).toEqual(["touched.last"]);
    node.db.commits?.end();
    expect(likes()).toBe(0);
  });

  test("is repeated on one snapshot if a commit became visible meanwhile", () => {
    likes();
    let runs = 0;
    const found = likes(() => {
      runs += 1;
      if (runs === 1) graph.like(2, 30, cast);
    });
    expect(found).toBe(1);
    expect(runs).toBe(2);
  });

  test("does not mix states after a commit within the first read", () => {
    likes(() => graph.like(2, 30, cast));
    graph.like(3, 40, cast);
    expect(likes()).toBe(2);
  });
});

describe("what is presented once per commit", () => {
  const presented = () =>
    runQuery(
      source,
      () => undefined,
      () => ({ fids: [1] }),
      (_, hydration) => presentUser(1, hydration),
    );
  const appName = () => presented()?.auth_addresses[0]?.app;

  beforeEach(() => {
    const { address } = makeWallet("auth");
    node.ingestEvent(keyAddedEvent(1, address, { block: 900_000 }, { keyType: 2, requestFid: 2 }));
  });

  test("is the same object while nothing was committed, also for the next second", () => {
    const first = presented();
    expect(presented()).toBe(first);
    node.clock.advanceSecs(1);
    expect(presented()).toBe(first);
    graph.like(3, 20, cast);
    expect(presented()).toBe(first);
  });

  test("shows each commit that changes a user that it only names", () => {
    expect(appName()).toMatchObject({ fid: 2, display_name: null });
    for (const name of ["one", "two"]) {
      graph.userData(2, UserDataType.USER_DATA_TYPE_DISPLAY, name);
      expect(appName()).toMatchObject({ fid: 2, display_name: name });
    }
  });
});

test("a failed transaction ends its commit number", () => {
  const { commits } = node.db;
  const before = commits?.read();
  expect(() =>
    node.db.transaction(() => {
      throw new Error("refused");
    }),
  ).toThrow("refused");
  expect(commits?.read()).toBe(before);
  node.db.transaction(() => undefined);
  expect(commits?.read()).not.toBe(before);
});
