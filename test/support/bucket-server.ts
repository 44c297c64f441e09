import { createHash } from "node:crypto";
import { type StoreCredentials, sha256, signedHeaders } from "../../src/net/objects/sign-request.ts";

/** A store with the API of S3 on the loopback address, in memory. It verifies signatures and digests. */
export interface BucketServer extends Disposable {
  readonly url: string;
  readonly objects: Map<string, Uint8Array>;
  /** The uploads in parts that are neither completed nor aborted. */
  readonly uploads: ReadonlyMap<string, unknown>;
  /** The requests so far, as `PUT /bucket/key?query`. */
  readonly requests: string[];
  /** Takes the place of the response to a request, where it returns one. */
  fault: (request: Request, respond: () => Promise<Response>) => Promise<Response> | undefined;
}

export const CREDENTIALS: StoreCredentials = {
  accessKeyId: "AKIAEXAMPLE",
  secretAccessKey: "secret/of+the=test",
  sessionToken: "",
  region: "us-east-1",
};

const refusal = (status: number, code: string) =>
  new Response(`<Error><Code>${code}</Code><Message>It is ${code}.</Message></Error>`, { status });

export function startBucketServer(): BucketServer {
  const objects = new Map<string, Uint8Array>();
  const uploads = new Map<string, Map<number, Uint8Array>>();
  const requests: string[] = [];
  const tag = (bytes: Uint8Array) => `"${createHash("md5").update(bytes).digest("hex")}"`;

  async function respond(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const key = decodeURIComponent(url.pathname.replace(/^\/bucket\/?/, ""));
    const body = await request.bytes();
    const { headers, method } = request;
    const stated = headers.get("x-amz-content-sha256") ?? "";
    const [, day = "", time = ""] = /^(\d{8})T(\d{6})Z$/.exec(headers.get("x-amz-date") ?? "") ?? [];
    const at = Date.parse(
      `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4)}Z`,
    );
    const names = /SignedHeaders=([^,]+)/.exec(headers.get("authorization") ?? "")?.[1]?.split(";") ?? [];
    const others = names.filter((name) => name !== "host" && !name.startsWith("x-amz-"));
    const further = Object.fromEntries(others.map((name) => [name, headers.get(name) ?? ""]));
    const { authorization } = signedHeaders({ method, url, headers: further }, stated, CREDENTIALS, at);
    if (authorization !== headers.get("authorization")) return refusal(403, "SignatureDoesNotMatch");
    if (sha256(body) !== stated) return refusal(400, "XAmzContentSHA256Mismatch");
    const uploadId = url.searchParams.get("uploadId");
    if (method === "GET" && key === "") {
      const prefix = url.searchParams.get("prefix") ?? "";
      const after = url.searchParams.get("continuation-token") ?? "";
      const keys = [...objects.keys()].sort().filter((one) => one.startsWith(prefix) && one > after);
      // Pages of two, so that each list has several.
      const page = keys.slice(0, 2);
      const entries = page.map(
        (one) =>
          `<Contents><Key>${one.replaceAll("&", "&amp;")}</Key><Size>${objects.get(one)?.length}</Size></Contents>`,
      );
      const next =
        keys.length > 2
          ? `<NextContinuationToken>${page[1]?.replaceAll("&", "&amp;")}</NextContinuationToken>`
          : "";
      return new Response(`<ListBucketResult>${entries.join("")}${next}</ListBucketResult>`);
    }
    if (method === "POST" && url.searchParams.has("uploads")) {
      const id = crypto.randomUUID();
      uploads.set(id, new Map());
      return new Response(`<R><UploadId>${id}</UploadId></R>`);
    }
    if (uploadId !== null) {
      const parts = uploads.get(uploadId);
      if (!parts) return refusal(404, "NoSuchUpload");
      if (method === "PUT") {
        parts.set(Number(url.searchParams.get("partNumber")), body);
        return new Response(null, { headers: { etag: tag(body) } });
      }
      uploads.delete(uploadId);
      if (method === "POST") {
        const list = [
          ...new TextDecoder().decode(body).matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>(.*?)<\/ETag>/g),
        ];
        const ordered = list.map(([, number]) => parts.get(Number(number)) ?? new Uint8Array());
        const isSame = list.every(
          ([, , etag], at) => etag?.replaceAll("&quot;", '"') === tag(ordered[at] ?? new Uint8Array()),
        );
        if (!isSame) return refusal(400, "InvalidPart");
        objects.set(key, Buffer.concat(ordered));
        return new Response("<CompleteMultipartUploadResult/>");
      }
      return new Response(null, { status: 204 });
    }
    if (method === "PUT") {
      objects.set(key, body);
      return new Response(null, { headers: { etag: tag(body) } });
    }
    if (method === "DELETE") {
      objects.delete(key);
      return new Response(null, { status: 204 });
    }
    const found = objects.get(key);
    if (!found) return refusal(404, "NoSuchKey");
    const start = Number(/^bytes=(\d+)-$/.exec(headers.get("range") ?? "")?.[1] ?? 0);
    const common = { etag: tag(found) };
    if (start === 0) return new Response(found as Uint8Array<ArrayBuffer>, { headers: common });
    return new Response(found.slice(start) as Uint8Array<ArrayBuffer>, {
      status: 206,
      headers: { ...common, "content-range": `bytes ${start}-${found.length - 1}/${found.length}` },
    });
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: 256 * 1024 * 1024,
    fetch(request) {
      const url = new URL(request.url);
      requests.push(`${request.method} ${url.pathname}${url.search}`);
      return bucket.fault(request, () => respond(request)) ?? respond(request);
    },
  });
  const bucket: BucketServer = {
    url: `http://127.0.0.1:${server.port}`,
    objects,
    uploads,
    requests,
    fault: () => undefined,
    [Symbol.dispose]: () => void server.stop(true),
  };
  return bucket;
}
