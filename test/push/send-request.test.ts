import { describe, expect, test } from "bun:test";
import { readSendRequest } from "../../src/push/send-request.ts";
import { expectErr, expectOk } from "../support/result.ts";

const APP_URL = "https://app.example";
const notification = { title: "Title", body: "Body", target_url: `${APP_URL}/page` };
const UUID = "0f8fad5b-d9cb-469f-a165-70867728950e";

const refusalOf = (body: unknown) => expectErr(readSendRequest(body, APP_URL)).message;
const withNotification = (changes: object) => ({ notification: { ...notification, ...changes } });

describe("readSendRequest", () => {
  test("reads a full request", () => {
    const body = {
      notification: { ...notification, uuid: `{${UUID.toUpperCase()}}` },
      target_fids: [1, 2 ** 60],
      exclude_fids: [3],
      following_fid: 4,
      minimum_user_score: 0.5,
      near_location: { any: "thing" },
      unknown: true,
    };
    expect(expectOk(readSendRequest(body, APP_URL))).toEqual({
      notification: { title: "Title", body: "Body", targetUrl: `${APP_URL}/page` },
      uuid: UUID,
      audience: { targetFids: [1, -1], excludeFids: [3], followingFid: 4, minimumScore: 0.5 },
    });
  });

  test("null means no uuid, no followed fid and no score; absent lists are empty", () => {
    const body = { ...withNotification({ uuid: null }), following_fid: null, minimum_user_score: null };
    expect(expectOk(readSendRequest(body, APP_URL))).toEqual({
      notification: { title: "Title", body: "Body", targetUrl: `${APP_URL}/page` },
      uuid: undefined,
      audience: { targetFids: [], excludeFids: [], followingFid: null },
    });
  });

  test("an fid is any unsigned 64-bit integer; one that no account can have stands for an unknown one", () => {
    const body = { notification, target_fids: [0, 2 ** 53 - 1, 2 ** 53, 2 ** 64] };
    expect(expectOk(readSendRequest(body, APP_URL)).audience.targetFids).toEqual([0, 2 ** 53 - 1, -1, -1]);
  });

  const titles = "notification.title must have 1 to 32 characters";
  test.each<[unknown, string]>([
    [[], "request body must be an object"],
    [null, "request body must be an object"],
    [{}, "missing field notification"],
    [{ notification: [] }, "notification must be an object"],
    [{ notification: null }, "notification must be an object"],
    [{ notification: { body: "b", target_url: APP_URL } }, "missing field notification.title"],
    [{ notification: { title: "t", target_url: APP_URL } }, "missing field notification.body"],
    [{ notification: { title: "t", body: "b" } }, "missing field notification.target_url"],
    [withNotification({ title: 1 }), "notification.title must be a string"],
    [withNotification({ title: "" }), titles],
    [withNotification({ title: "😀".repeat(33) }), titles],
    [withNotification({ title: "\ud800" }), "notification.title must be well-formed Unicode without NUL"],
    [withNotification({ body: "x".repeat(129) }), "notification.body must have 1 to 128 characters"],
    [
      withNotification({ target_url: `${APP_URL}/${"x".repeat(256)}` }),
      "notification.target_url must have 1 to 256 characters",
    ],
    [
      withNotification({ target_url: `${APP_URL}/\u200b` }),
      "notification.target_url must not contain control characters or invisible ones",
    ],
    [
      withNotification({ target_url: "http://app.example/" }),
      "notification.target_url must be an absolute https URL",
    ],
    [
      withNotification({ target_url: "https://a:b@app.example/" }),
      "notification.target_url must not contain credentials",
    ],
    [
      withNotification({ target_url: "https://evil.example/" }),
      "notification.target_url must be on the host of the app, app.example",
    ],
    [withNotification({ uuid: "x" }), "notification.uuid must be a UUID"],
    [withNotification({ uuid: 7 }), "notification.uuid must be a UUID"],
    [{ notification, target_fids: null }, "target_fids must be an array"],
    [
      { notification, target_fids: [1, "2"] },
      "every entry of target_fids must be an unsigned 64-bit integer",
    ],
    [
      { notification, exclude_fids: [2 ** 65] },
      "every entry of exclude_fids must be an unsigned 64-bit integer",
    ],
    [{ notification, exclude_fids: [-1] }, "every entry of exclude_fids must be an unsigned 64-bit integer"],
    [{ notification, exclude_fids: {} }, "exclude_fids must be an array"],
    [{ notification, following_fid: 1.5 }, "following_fid must be an unsigned 64-bit integer"],
    [{ notification, minimum_user_score: "high" }, "minimum_user_score must be a number"],
  ])("%j is refused: %s", (body, message) => {
    expect(refusalOf(body)).toBe(message);
  });
});
