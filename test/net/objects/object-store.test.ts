import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { RetryableError, UserError } from "../../../src/lib/failure.ts";
import { createObjectStore } from "../../../src/net/objects/object-store.ts";
import type { RetryPolicy } from "../../../src/net/objects/retry-calls.ts";
import { EMPTY_SHA256, signedHeaders } from "../../../src/net/objects/sign-request.ts";
import { CREDENTIALS, startBucketServer } from "../../support/bucket-server.ts";

const server = startBucketServer();
afterAll(() => server[Symbol.dispose]());
beforeEach(() => {
  server.fault = () => undefined;
  server.objects.clear();
  server.requests.length = 0;
});

const UNENDING = new AbortController().signal;
const QUICK: RetryPolicy = { maxFailures: 4, initialDelayMs: 1, maxDelayMs: 1, stallMs: 60_000 };
const PART_BYTES = 1000;

function storeWith(retries: Partial<RetryPolicy> = {}, credentials = CREDENTIALS) {
  return createObjectStore({
    endpoint: server.url,
    bucket: "bucket",
    credentials,
    retries: { ...QUICK, ...retries },
    partBytes: PART_BYTES,
  });
}

const content = (length: number) => Uint8Array.from({ length }, (_, at) => (at * 7919) % 251);
const readAll = async (chunks: AsyncIterable<Uint8Array>) => Buffer.concat(await Array.fromAsync(chunks));

test("a request is signed as in the example of the documentation of AWS", () => {
  const { authorization } = signedHeaders(
    {
      method: "GET",
      url: new URL("https://examplebucket.s3.amazonaws.com/test.txt"),
      headers: { range: "bytes=0-9" },
    },
    EMPTY_SHA256,
    {
      accessKeyId: "AKIAIOSFODNN7EXAMPLE",
      secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      sessionToken: "",
      region: "us-east-1",
    },
    Date.parse("2013-05-24T00:00:00Z"),
  );
  expect(authorization).toEndWith(
    "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  );
});

describe("an object store", () => {
  test("writes, lists over pages, reads and deletes objects of any size and name", async () => {
    const store = storeWith();
    const sizes = [0, 1, PART_BYTES, PART_BYTES + 1, 5 * PART_BYTES + 3];
    for (const size of sizes) {
      const bytes = content(size);
      // Chunks of another size than the parts.
      const chunks = Array.from({ length: Math.ceil(size / 300) }, (_, at) =>
        bytes.subarray(at * 300, at * 300 + 300),
      );
      await store.write(`a b/ü&+(${size})'`, chunks, UNENDING);
    }
    await store.write("other", [content(1)], UNENDING);
    const listed = await store.list("a b/", UNENDING);
    expect(listed.map(({ bytes }) => bytes).sort((a, b) => a - b)).toEqual(sizes);
    for (const { key, bytes } of listed)
      expect(await readAll(store.read(key, UNENDING))).toEqual(Buffer.from(content(bytes)));
    for (const { key } of listed) await store.delete(key, UNENDING);
    await store.delete("a b/none", UNENDING);
    expect([...server.objects.keys()]).toEqual(["other"]);
    expect(server.uploads.size).toBe(0);
  });

  test("lists names with every way to write a character", async () => {
    const name = "a&amp;&#38;&lt;&gt;&quot;&apos;&#128512;";
    server.fault = async () =>
      new Response(`<L><Contents><Key>${name}</Key><Size>3</Size></Contents></L>`, { status: 200 });
    expect(await storeWith().list("", UNENDING)).toMatchObject([{ key: `a&&<>"'\u{1f600}`, bytes: 3 }]);
  });

  test("writes an object of several megabytes in one request, because a store refuses small parts", async () => {
    const store = createObjectStore({ endpoint: server.url, bucket: "bucket", credentials: CREDENTIALS });
    const bytes = content(6_000_000);
    const chunks = Array.from({ length: 6 }, (_, at) => bytes.subarray(at * 1_000_000, (at + 1) * 1_000_000));
    await store.write("large", chunks, UNENDING);
    expect(server.requests).toHaveLength(1);
  });

  test("writes no part without bytes", async () => {
    const requestsOf = async (size: number) => {
      server.requests.length = 0;
      await storeWith().write("object", [content(size)], UNENDING);
      return server.requests.length;
    };
    // The start of an upload, its parts and its end are a request each.
    const sizes = [0, PART_BYTES, 2 * PART_BYTES, 2 * PART_BYTES + 1];
    expect(await Array.fromAsync(sizes, requestsOf)).toEqual([1, 1, 4, 5]);
  });

  test("writes a part again that a busy store refused", async () => {
    const bytes = content(5000);
    let refused = 0;
    server.fault = (request) =>
      request.method === "PUT" && refused++ % 3 !== 2
        ? Promise.resolve(new Response("<Error><Code>SlowDown</Code></Error>", { status: 503 }))
        : undefined;
    await storeWith().write("object", [bytes], UNENDING);
    expect(server.objects.get("object")).toEqual(Buffer.from(bytes));
  });

  test("gives up after consecutive failures, and aborts the upload, of which the store would keep the parts", async () => {
    server.fault = (request) =>
      request.url.includes("partNumber=3") ? Promise.resolve(new Response(null, { status: 500 })) : undefined;
    const written = storeWith().write("object", [content(5000)], UNENDING);
    await expect(written).rejects.toThrow(RetryableError);
    expect(server.requests.filter((request) => request.includes("partNumber=3"))).toHaveLength(
      QUICK.maxFailures,
    );
    expect([server.uploads.size, server.objects.size]).toEqual([0, 0]);
  });

  test("names what the store refuses, at once and without the secret", async () => {
    const wrong = storeWith({}, { ...CREDENTIALS, secretAccessKey: "another/secret" });
    const refused = await wrong.list("", UNENDING).catch((cause: unknown) => cause);
    expect(refused).toBeInstanceOf(UserError);
    expect(String(refused)).toBe(
      "UserError: s3://bucket/: HTTP 403, SignatureDoesNotMatch, It is SignatureDoesNotMatch.",
    );
    server.fault = () =>
      Promise.resolve(new Response("<Error><Code>ExpiredToken</Code></Error>", { status: 400 }));
    await expect(storeWith().write("object", [content(1)], UNENDING)).rejects.toThrow(
      "s3://bucket/object: HTTP 400, ExpiredToken",
    );
    expect(server.requests).toHaveLength(2);
  });

  test("ends with the signal, without another attempt", async () => {
    const stopping = new AbortController();
    server.fault = () => {
      stopping.abort(new Error("stopped"));
      return Promise.resolve(new Response(null, { status: 500 }));
    };
    await expect(storeWith().list("", stopping.signal)).rejects.toThrow("stopped");
    expect(server.requests).toHaveLength(1);
  });
});
