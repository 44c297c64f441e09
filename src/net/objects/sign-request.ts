import { createHash, createHmac } from "node:crypto";

/** A key of an S3-compatible store. */
export interface StoreCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** For temporary credentials; otherwise empty. */
  readonly sessionToken: string;
  readonly region: string;
}

const ALGORITHM = "AWS4-HMAC-SHA256";
/** The SHA-256 of an empty body. */
export const EMPTY_SHA256 = sha256("");

/**
 * Returns the headers that authenticate a request to a store: AWS Signature Version 4, with the digest of the body, which the store
 * compares with what it receives.
 *
 * @param url its path and query are encoded by `encodeKey` and `encodeQuery`.
 * @param headers further headers to sign, with lowercase names.
 */
export function signedHeaders(
  request: {
    readonly method: string;
    readonly url: URL;
    readonly headers?: Readonly<Record<string, string>>;
  },
  bodySha256: string,
  { accessKeyId, secretAccessKey, sessionToken, region }: StoreCredentials,
  nowMs: number,
): Record<string, string> {
  const { method, url, headers = {} } = request;
  const time = `${new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
  const day = time.slice(0, 8);
  const own = {
    ...headers,
    "x-amz-content-sha256": bodySha256,
    "x-amz-date": time,
    ...(sessionToken !== "" && { "x-amz-security-token": sessionToken }),
  };
  const signed = Object.entries({ ...own, host: url.host }).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(";");
  const canonical = [
    method,
    url.pathname,
    url.search.slice(1),
    ...signed.map(([name, value]) => `${name}:${value.trim()}`),
    "",
    names,
    bodySha256,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = [ALGORITHM, time, scope, sha256(canonical)].join("\n");
  const key = [day, region, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  const signature = hmac(key, text).toString("hex");
  return {
    ...own,
    authorization: `${ALGORITHM} Credential=${accessKeyId}/${scope},SignedHeaders=${names},Signature=${signature}`,
  };
}

/** Encodes the path of an object as it is signed and sent. */
export function encodeKey(key: string): string {
  return key.split("/").map(encode).join("/");
}

/** Encodes a query in the order and the encoding in which it is signed. */
export function encodeQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join("&");
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
