import { programName } from "../../version.ts";
import { type Change, NODE, type Rule, SIGN_IN_RULES } from "./sign-in-rules.ts";
import type { SourceFile } from "./source-files.ts";
import { nameWithoutValues } from "./without-values.ts";

const HOSTS: Readonly<Record<string, string>> = {
  "api.neynar.com": `the node: ${NODE}`,
  "sdk-api.neynar.com": `the node: ${NODE}`,
  "hub-api.neynar.com": `the node: ${NODE}, with the same paths under /v1`,
  "snapchain-api.neynar.com": `the node: ${NODE}, with the same paths under /v1`,
  "hub-grpc-api.neynar.com": "the gRPC port of the node (hub.port)",
  "snapchain-grpc-api.neynar.com": "the gRPC port of the node (hub.port)",
  "app.neynar.com": `${NODE}/login, the login page of a login client (\`${programName} login-client create\`)`,
};

const RULES: readonly Rule[] = [
  {
    pattern: /https?:\/\/api\.neynar\.com\/f\/app\/[^"'`\s]*/g,
    change: () => ({
      what: "webhookUrl of a manifest",
      todo: `${NODE}/v2/farcaster/frame/webhook/<app_id>, after \`${programName} tokens import\``,
    }),
  },
  {
    pattern: /\b(?:https?:\/\/)?((?:[a-z\d-]{1,40}\.)?neynar\.com)\b(?!\/f\/app)/g,
    change: ([, host = ""]) => {
      const todo = Object.hasOwn(HOSTS, host) ? HOSTS[host] : undefined;
      return todo === undefined ? undefined : { what: host, todo };
    },
  },
  {
    pattern: /\b((?:[A-Z]{1,20}_){0,4}NEYNAR_\w*(?:API_?KEY|SECRET)\w*)\b/g,
    change: ([, name = ""]) => ({
      // It may be a key that a source contains as a literal.
      what: nameWithoutValues(name),
      todo: name.includes("WEBHOOK")
        ? "the secret of the webhook that this node gives"
        : `a key of the node, by \`${programName} api-key create\``,
    }),
  },
  {
    pattern: /\bx-neynar-signature\b/gi,
    change: () => ({
      what: "X-Neynar-Signature",
      todo: "stays: webhooks that are created by this API carry it; only the secret changes",
    }),
  },
  {
    pattern: /\bverifyAppKeyWithNeynar\b/g,
    change: () => ({
      what: "verifyAppKeyWithNeynar",
      todo: `createVerifyAppKeyWithHub("${NODE}"), or let the node receive token events`,
    }),
  },
  {
    pattern: /["']@neynar\/react["']/g,
    change: () => ({
      what: "@neynar/react",
      todo: "calls the vendor from the browser, at addresses that are fixed in the package; the script of the button takes a login page of yours",
    }),
  },
  {
    pattern: /["'](@neynar\/react-native-signin)["']/g,
    change: ([, what = ""]) => ({
      what,
      todo: "stays: fetchAuthorizationUrl of your backend calls this node",
    }),
  },
  ...SIGN_IN_RULES,
];

/** @param file a file with blanked comments. */
export function findChanges({ text }: SourceFile): Change[] {
  if (!/neynar|farcaster|quickAuth|AuthKit|AppClient/i.test(text)) return [];
  return RULES.flatMap(({ pattern, change }) =>
    [...text.matchAll(pattern)].flatMap((found) => {
      const made = change(found);
      return made === undefined ? [] : [{ ...made, at: found.index }];
    }),
  );
}

/**
 * Returns the change for a client that is created without `basePath`.
 *
 * @param sdkMajor the SDK's version in package.json; undefined if none is given.
 */
export function basePathChange(className: string, sdkMajor: number | undefined): Omit<Change, "at"> {
  const base = sdkMajor === 2 && className !== "NeynarHubClient" ? `${NODE}/v2` : NODE;
  return {
    what: `new ${className} without basePath`,
    todo: `add basePath: "${base}"; without it the client calls the vendor, with this key`,
  };
}

/** Returns the SDK's major version that a package.json of the repository requires. */
export function sdkMajorOf(files: readonly SourceFile[]): number | undefined {
  for (const { path, text } of files) {
    if (!/(^|\/)package\.json$/.test(path)) continue;
    const version = /"@neynar\/nodejs-sdk"\s*:\s*"[^"\d]{0,10}(\d{1,4})/.exec(text)?.[1];
    if (version !== undefined) return Number(version);
  }
  return undefined;
}
