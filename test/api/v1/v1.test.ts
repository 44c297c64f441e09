import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { encodeBase58 } from "../../../src/lib/base58.ts";
import { SubmitBulkMessagesRequest } from "../../../src/protocol/wire/generated/hub.ts";
import { Message } from "../../../src/protocol/wire/generated/message.ts";
import { startTestApi, type TestApi } from "../../support/api.ts";
import { DEFAULT_TIMESTAMP } from "../../support/messages.ts";
import { accountRecords, accountSigner } from "../../support/node.ts";
import {
  bio,
  cast,
  fname,
  hashBytes,
  likeUrl,
  link,
  react,
  uncast,
  verify,
  WALLET,
} from "../../support/records.ts";

let api: TestApi;
const casts = Array.from({ length: 25 }, (_, n) => cast(3, `cast ${n}`, DEFAULT_TIMESTAMP + (n % 4)));
const removed = cast(3, "removed");

beforeAll(async () => {
  api = await startTestApi();
  for (const fid of [1, 2, 3]) api.node.ingestAll(accountRecords(fid));
  api.node.merge([
    ...casts,
    removed,
    uncast(3, removed, DEFAULT_TIMESTAMP + 9),
    react(3, 1),
    react(3, 2),
    likeUrl(3, "https://a.example/x"),
    bio(3, ""),
    verify(3),
    link(3, "follow", 2),
    link(3, "block", 1),
  ]);
});
afterAll(() => api[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: bodies of every kind
type Body = any;

/** Requests a read and checks its body against the OpenAPI document. */
async function get(path: string): Promise<{ status: number; body: Body }> {
  return api.get(`/v1${path}`);
}

const textsOf = (body: Body): string[] =>
  body.messages.map(({ data }: Body) => data.castAddBody?.text ?? "removed");

describe("lists", () => {
  test("end with an empty nextPageToken, in either spelling of the parameters, forwards and reversed", async () => {
    const walk = async (size: string, token: string, more = "") => {
      const texts: string[] = [];
      let next = "";
      do {
        const { body } = await get(
          `/castsByFid?fid=3&${size}=7${more}${next === "" ? "" : `&${token}=${encodeURIComponent(next)}`}`,
        );
        texts.push(...textsOf(body));
        next = body.nextPageToken;
      } while (next !== "");
      return texts;
    };
    const camel = await walk("pageSize", "pageToken");
    expect(camel.length).toBe(26);
    expect(camel.at(-1)).toBe("removed");
    expect(await walk("page_size", "page_token")).toEqual(camel);
    for (const reverse of ["1", "true"])
      expect(await walk("pageSize", "pageToken", `&reverse=${reverse}`)).toEqual(camel.toReversed());
    expect(await walk("pageSize", "pageToken", "&reverse=false")).toEqual(camel);
  });

  test("have each proof of an fid once, by name", async () => {
    api.node.ingestAll(["third", "a-first"].map((name) => fname(2, name)));
    const { body } = await get("/userNameProofsByFid?fid=2");
    expect(body.proofs.map(({ name }: Body) => name)).toEqual(["a-first", "third", "user2"]);
  });

  test("accept a token in standard base64 whose plus signs became spaces", async () => {
    const first = (await get("/castsByFid?fid=3&pageSize=5")).body;
    const standard = Buffer.from(first.nextPageToken, "base64url").toString("base64");
    const asForm = `/castsByFid?fid=3&pageSize=5&pageToken=${standard.replaceAll("/", "%2F")}`;
    const second = (await get(asForm)).body;
    const again = (await get(`/castsByFid?fid=3&pageSize=5&pageToken=${first.nextPageToken}`)).body;
    expect(textsOf(second)).toEqual(textsOf(again));
    expect(textsOf(second)).not.toEqual(textsOf(first));
  });

  test("have 1000 rows without a page size, and with one of 0", async () => {
    for (const size of ["", "&pageSize=0", "&pageSize=99999"])
      expect(textsOf((await get(`/castsByFid?fid=3${size}`)).body).length).toBe(26);
  });
});

describe("parameters", () => {
  test.each(["1", "Like", "like", "REACTION_TYPE_LIKE", "reaction_type_like"])(
    "a reaction type may be written as %s",
    async (type) => {
      for (const name of ["reaction_type", "reactionType"]) {
        const { body } = await get(`/reactionsByFid?fid=3&${name}=${type}`);
        expect(body.messages.map(({ data }: Body) => data.reactionBody.type)).toEqual([
          "REACTION_TYPE_LIKE",
          "REACTION_TYPE_LIKE",
        ]);
      }
    },
  );

  test("hashes, keys and addresses are hex with or without 0x in any case, or base58", async () => {
    const hash = hashBytes(casts[0] ?? removed).toString("hex");
    for (const text of [hash, `0x${hash}`, hash.toUpperCase(), `0X${hash.toUpperCase()}`])
      expect((await get(`/castById?fid=3&hash=${text}`)).status).toBe(200);
    const key = accountSigner(3).publicKey;
    for (const text of [Buffer.from(key).toString("hex"), encodeBase58(key)])
      expect((await get(`/onChainSignersByFid?fid=3&signer=${text}`)).body.events.length).toBe(1);
    for (const address of [WALLET, WALLET.toLowerCase().slice(2)]) {
      const { body } = await get(`/verificationsByFid?fid=3&address=${address}`);
      expect(body.hash).toBe(body.messages[0].hash);
    }
  });

  test("a target is named by URL or cast, in any of the spellings of published clients", async () => {
    const target = { fid: 2, hash: hashBytes(cast(2, "liked")).toString("hex") };
    for (const query of [
      `target_fid=${target.fid}&target_hash=${target.hash}`,
      `targetFid=${target.fid}&targetHash=${target.hash}`,
      `target_cast_id[fid]=${target.fid}&target_cast_id[hash]=${target.hash}`,
    ])
      expect((await get(`/reactionsByTarget?${query}`)).body.messages.length).toBe(2);
    for (const query of ["url=https://a.example/x", "target_url=https%3A%2F%2Fa.example%2Fx"])
      expect((await get(`/reactionsByTarget?${query}`)).body.messages.length).toBe(1);
    expect((await get("/reactionsByTarget?url=https://a.example/xy")).body.messages).toEqual([]);
    expect((await get("/reactionById?fid=3&reaction_type=1&target_url=https://a.example/x")).status).toBe(
      200,
    );
  });

  test("an fid above 2^53 belongs to no user", async () => {
    for (const fid of ["4294967299", "9007199254740995", "18446744073709551615"])
      expect((await get(`/castsByFid?fid=${fid}`)).body).toEqual({ messages: [], nextPageToken: "" });
  });

  test("with_data_bytes adds the signed bytes", async () => {
    const { body } = await get("/castsByFid?fid=3&pageSize=1&with_data_bytes=1");
    expect(body.messages[0].dataBytes).toBeString();
    const first = casts.map(({ bytes }) =>
      Buffer.from(Message.decode(bytes).dataBytes ?? []).toString("base64"),
    );
    expect(first).toContain(body.messages[0].dataBytes);
  });

  test("user data of one type is the message itself and a list of it", async () => {
    const { body } = await get("/userDataByFid?fid=3&userDataType=bio");
    expect(body.data.userDataBody).toEqual({ type: "USER_DATA_TYPE_BIO", value: "" });
    expect(body.messages).toEqual([expect.objectContaining({ hash: body.hash })]);
    expect((await get("/userDataByFid?fid=3&user_data_type=PFP")).body.errCode).toBe("not_found");
  });
});

describe("errors", () => {
  const ERROR_KEYS = [
    "code",
    "details",
    "errCode",
    "error",
    "error_detail",
    "message",
    "metadata",
    "name",
    "presentable",
  ];

  test.each([
    ["/castById?fid=3", 400, "bad_request.invalid_param", 3],
    ["/castById?fid=x&hash=00", 400, "bad_request.invalid_param", 3],
    [`/castById?fid=3&hash=${"00".repeat(20)}`, 400, "not_found", 5],
    ["/castsByFid?fid=3&pageToken=AAAA", 400, "bad_request.invalid_param", 3],
    ["/castsByFid?fid=3&reverse=maybe", 400, "bad_request.invalid_param", 3],
    ["/castsByParent", 400, "not_found", 5],
    ["/fids?shard_id=9", 400, "bad_request.invalid_param", 3],
    ["/castsByFid?fid=%ff", 400, "bad_request.invalid_param", 3],
    ["/nothing", 404, "not_found", 5],
    ["/mesh", 501, "unimplemented", 12],
  ])("%s is %i %s as JSON that every kind of client reads", async (path, status, errCode, code) => {
    const response = await fetch(`${api.url}/v1${path}`);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toStartWith("application/json");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    const body: Body = await response.json();
    expect(Object.keys(body).sort()).toEqual(ERROR_KEYS);
    expect(body).toMatchObject({ errCode, code, metadata: { errcode: [errCode] }, error: body.message });
  });

  test("every read is 503 with Retry-After until the index is filled, while info responds", async () => {
    let filled = false;
    await using filling = await startTestApi({ hubReads: { isFilled: () => filled } });
    const paths = Object.entries(filling.document.paths).flatMap(([path, item]) =>
      // The relay of sign-ins is not of the hub.
      path.startsWith("/v1/") && path !== "/v1/channel/status" && "get" in (item as object) ? [path] : [],
    );
    const hash = "00".repeat(20);
    const query = `fid=1&hash=${hash}&target_fid=1&target_hash=${hash}&reaction_type=1&link_type=follow&name=a&signer=${hash}&event_type=1&event_id=1&address=${hash}&channel_key=a&channel_id=${hash}`;
    expect(paths.length).toBe(40);
    for (const path of paths) {
      const response = await fetch(`${filling.url}${path}?${query}`);
      const isOpen = path === "/v1/info" || path === "/v1/currentPeers";
      expect({ path, status: response.status }).toEqual({ path, status: isOpen ? 200 : 503 });
      if (!isOpen) expect(response.headers.get("retry-after")).toBe("30");
    }
    filled = true;
    expect((await fetch(`${filling.url}/v1/fids`)).status).toBe(200);
  });

  test("a node that follows some fids refuses other fids, and marks what is partial", async () => {
    await using partial = await startTestApi({ hubReads: { followed: new Set([1]) } });
    partial.node.ingestAll(accountRecords(1));
    const refused = await fetch(`${partial.url}/v1/castsByFid?fid=2`);
    expect([refused.status, ((await refused.json()) as Body).errCode]).toEqual([400, "bad_request"]);
    const fids = await fetch(`${partial.url}/v1/fids`);
    expect(fids.headers.get("x-partial")).toBe("fids");
    expect((await fetch(`${partial.url}/v1/castsByFid?fid=1`)).headers.get("x-partial")).toBeNull();
  });
});

describe("submits", () => {
  const post = (path: string, body: Uint8Array, type = "application/octet-stream") =>
    fetch(`${api.url}/v1/${path}`, { method: "POST", body, headers: { "content-type": type } });

  test("a submitted message is merged and returned; the types of protobuf may have parameters", async () => {
    for (const [n, type] of [
      "application/octet-stream",
      "Application/Octet-Stream; charset=binary",
      "application/x-protobuf",
    ].entries()) {
      const record = cast(1, `submitted ${n}`);
      const response = await post("submitMessage", record.bytes, type);
      const body: Body = await response.json();
      expect([response.status, body.hash]).toEqual([200, `0x${hashBytes(record).toString("hex")}`]);
      expect((await get(`/castById?fid=1&hash=${body.hash}`)).status).toBe(200);
    }
    const repeated = await post("submitMessage", cast(1, "submitted 0").bytes);
    expect([repeated.status, ((await repeated.json()) as Body).errCode]).toEqual([
      400,
      "bad_request.duplicate",
    ]);
    const json = await post("submitMessage", cast(1, "json").bytes, "application/json");
    expect(json.status).toBe(400);
  });

  test("a bulk request has a result for each message, in its order", async () => {
    const good = cast(1, "bulk");
    const bad = { ...Message.decode(cast(1, "bad").bytes), hash: Buffer.alloc(20) };
    const request = SubmitBulkMessagesRequest.encode({
      messages: [bad, Message.decode(good.bytes)],
    }).finish();
    const body: Body = await (await post("submitBulkMessages", request)).json();
    expect(body.messages[0]).toEqual({
      hash: `0x${"00".repeat(20)}`,
      errCode: "bad_request.validation_failure",
      message: "hash is not that of the data",
    });
    expect(body.messages[1].hash).toBe(`0x${hashBytes(good).toString("hex")}`);
  });

  test("validateMessage stores nothing", async () => {
    const record = cast(1, "only asked about");
    const body: Body = await (await post("validateMessage", record.bytes)).json();
    expect([body.valid, body.message.data.castAddBody.text]).toEqual([true, "only asked about"]);
    const found = await get(`/castById?fid=1&hash=${hashBytes(record).toString("hex")}`);
    expect(found.body.errCode).toBe("not_found");
  });

  test("garbage and bodies above the limit are refused as JSON", async () => {
    const garbage = await post("submitMessage", Buffer.from("garbage"));
    expect([garbage.status, ((await garbage.json()) as Body).errCode]).toEqual([
      400,
      "bad_request.parse_failure",
    ]);
    const large = await post("submitMessage", Buffer.alloc(128 * 1024 + 1));
    expect([large.status, ((await large.json()) as Body).code]).toEqual([413, 3]);
    const bulk = await post("submitBulkMessages", Buffer.alloc(4 * 1024 * 1024 + 1));
    expect(bulk.status).toBe(413);
  });

  test("a browser's preflight of a submit passes", async () => {
    const response = await fetch(`${api.url}/v1/submitMessage`, {
      method: "OPTIONS",
      headers: {
        origin: "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,x-api-key",
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-allow-methods")).toContain("POST");
    expect(response.headers.get("access-control-allow-headers")).toContain("content-type");
  });
});

test("an unchanged read is 304 for a client that has it", async () => {
  const url = `${api.url}/v1/castsByFid?fid=3`;
  const etag = (await fetch(url)).headers.get("etag") ?? "";
  expect(etag).toStartWith('W/"');
  expect((await fetch(url, { headers: { "if-none-match": etag } })).status).toBe(304);
});

test("the metrics count each call by its path and status, and all refused ones as one path", async () => {
  const count = async (route: string, status: number) => {
    const series = `svc_http_requests_total{${route},status="${status}"} `;
    const metrics = await (await fetch(`${api.url}/metrics`)).text();
    const line = metrics.split("\n").find((one) => one.startsWith(series));
    return Number(line?.slice(series.length) ?? 0);
  };
  const refused = 'method="any",route="refused"';
  const calls: [path: string, route: string, status: number][] = [
    ["/castsByFid?fid=3&pageSize=3", 'method="GET",route="/v1/castsByFid"', 200],
    ["/castsByFid?fid=none", refused, 400],
    ["/mesh", refused, 501],
    ["/no-such-path", refused, 404],
  ];
  for (const [path, route, status] of calls) {
    const before = await count(route, status);
    expect((await fetch(`${api.url}/v1${path}`)).status).toBe(status);
    expect([path, await count(route, status)]).toEqual([path, before + 1]);
  }
});

test("headers and parameters of keyed clients change nothing", async () => {
  const plain = await (await fetch(`${api.url}/v1/castsByFid?fid=3`)).text();
  const keyed = await fetch(`${api.url}/v1/castsByFid?fid=3&api_key=x&unknown=1`, {
    headers: { "x-api-key": "k", authorization: "Bearer t" },
  });
  expect(await keyed.text()).toBe(plain);
});
