import { ApiError } from "../../http/errors.ts";
import { ownValue, readObject } from "../../management/fields.ts";
import { audienceFilters } from "../../push/send-request.ts";
import { unwrapOrThrow } from "../shared/management.ts";

/**
 * Moves the fields of `filters` into the body of a send, where the service reads them. A body that is not an object
 * is returned unchanged, and the service rejects it.
 *
 * @throws ApiError `badRequest`
 */
export function withFlatFilters(body: unknown): unknown {
  const request = readObject(body, "request body");
  if (!request.ok) return body;
  const filters = unwrapOrThrow(readObject(ownValue(request.value, "filters") ?? {}, "filters"));
  const flat: Record<string, unknown> = { ...request.value };
  for (const name of Object.keys(audienceFilters)) {
    const value = ownValue(filters, name);
    if (value === undefined) continue;
    if (Object.hasOwn(request.value, name)) {
      throw new ApiError("badRequest", `${name} stands both in the body and in filters`);
    }
    flat[name] = value;
  }
  return flat;
}
