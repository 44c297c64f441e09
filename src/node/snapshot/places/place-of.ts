import { resolve } from "node:path";
import type { Config } from "../../../config/schema.ts";
import { UserError } from "../../../lib/failure.ts";
import { createObjectStore } from "../../../net/objects/object-store.ts";
import { RETRIES, type RetryPolicy } from "../../../net/objects/retry-calls.ts";
import { bucketPlace } from "./bucket-place.ts";
import { directoryPlace } from "./directory-place.ts";
import type { Place } from "./place.ts";
import { webPlace } from "./web-place.ts";

export type PlaceSettings = Config["backup"];

const S3_URL = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/;

/**
 * Returns the place that an operator names.
 *
 * @param text a path, `s3://bucket/prefix` or an https URL (http only for this machine).
 * @throws UserError for any other URL, and for a bucket without credentials.
 */
export function placeOf(text: string, settings: PlaceSettings, retries: RetryPolicy = RETRIES): Place {
  const { encryption_key: key } = settings;
  if (text.startsWith("s3://")) {
    const [, bucket, path = ""] = S3_URL.exec(text) ?? [];
    if (bucket === undefined) throw new UserError(`${text} is not a URL such as s3://bucket/prefix`);
    if (settings.access_key_id === "" || settings.secret_access_key === "")
      throw new UserError(`${text} needs backup.access_key_id and backup.secret_access_key`);
    const store = createObjectStore({
      endpoint: settings.endpoint,
      bucket,
      credentials: {
        accessKeyId: settings.access_key_id,
        secretAccessKey: settings.secret_access_key,
        sessionToken: settings.session_token,
        region: settings.region,
      },
      retries,
    });
    return bucketPlace({ store, bucket, path: path.replace(/\/+$/, ""), key });
  }
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? URL.parse(text) : undefined;
  if (url === undefined) return directoryPlace(resolve(text), key);
  const isLocal = url?.protocol === "http:" && /^(127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname);
  if (!url || (url.protocol !== "https:" && !isLocal))
    throw new UserError(`${text} is neither a directory nor a URL of s3:// or https://`);
  return webPlace({ url, key, retries });
}
