import { invalid, type Rejection } from "../rejection.ts";
import type { LinkBody, LinkCompactStateBody } from "../wire/generated/message.ts";
import { checkFid, utf8Length } from "./fields.ts";

const MAX_LINK_TYPE_BYTES = 8;

/** Validates the addition or removal of a link. The type is free text. `display_timestamp` is not checked. */
export function validateLink(body: LinkBody): Rejection | undefined {
  return checkLinkType(body.type) ?? checkFid(body.target?.value ?? 0, "target_fid");
}

/** Validates a compact link state. Its list may repeat fids: the node treats it as a set. */
export function validateLinkCompactState(body: LinkCompactStateBody): Rejection | undefined {
  const rejection = checkLinkType(body.type);
  if (rejection) return rejection;
  if (body.targetFids.length === 0) return invalid("target_fids is empty");
  return body.targetFids.includes(0) ? invalid("target_fids holds 0") : undefined;
}

function checkLinkType(type: string): Rejection | undefined {
  const length = utf8Length(type);
  return length >= 1 && length <= MAX_LINK_TYPE_BYTES
    ? undefined
    : invalid(`link type must be 1 to ${MAX_LINK_TYPE_BYTES} bytes`);
}
