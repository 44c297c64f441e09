import { expect, test } from "bun:test";
import { approvalContent } from "../../src/console/approve-routes.ts";
import * as msg from "../../src/console/web/text/en/outside/documents.ts";

test("an app's chosen name shows what would be invisible, is cut and stays text", () => {
  const page = {
    view: {
      appFid: 4,
      publicKey: new Uint8Array(32),
      scopes: [],
      ttlSecs: 86_400,
      userFid: null,
      redirectUrl: null,
      status: "pending_approval",
    } as never,
    names: { username: null, displayName: `\u202e<script>\u200b${"x".repeat(200)}` } as never,
    isDemo: false,
  };
  const content = approvalContent(page, msg);
  expect(content).toContain('<bdi class="user">\ufffd&lt;script&gt;\ufffdxxx');
  expect(content).toContain("x…</bdi>");
  expect(content).not.toMatch(/[\u202a-\u202e\u200b]|<script|x{65}/);
});
