import type { Command } from "commander";
import type { StateDb } from "../../db/state/state-db.ts";
import { UserError } from "../../lib/failure.ts";
import { printable } from "../../lib/text.ts";
import type { ManagementClient } from "../client/client.ts";
import {
  type CallOptions,
  openClient,
  openSigner,
  parseFid,
  type SignerOptions,
  withCallOptions,
  withSignerOptions,
} from "../client/options.ts";
import type { CommandContext } from "../context.ts";
import { print, printError } from "../output.ts";
import type { Fields } from "./flags.ts";
import { memberOf, recordsTable, recordTable, responseJson } from "./table.ts";

const LIST_FIELDS = ["signer_uuid", "status", "fid", "app_fid", "public_key", "created_at"];
/** Number of signers that one request lists. */
const PAGE = "100";

/** `signer keygen|import|approve|rekey`: the commands for managed signers that no operation declares. */
export function registerSigner(program: Command, context: CommandContext): void {
  const signer = program.commands.find((command) => command.name() === "signer");
  if (signer === undefined) throw new Error("the commands of signers are not registered");

  signer
    .command("keygen")
    .description("print a new master key for signers.encryption_key")
    .action(async () => {
      const { createMasterKeyText, readMasterKey } = await import("../../vault/master-key.ts");
      const key = createMasterKeyText();
      printError(
        `key id ${readMasterKey(key).keyId}. Keep a copy: with a lost key, no managed signer signs again.\n`,
      );
      print(`${key}\n`);
    });

  withCallOptions(signer.command("import").description("have the node keep a key that is active for a user"))
    .requiredOption("--user <n>", "the user whose key it is", parseFid)
    .requiredOption("--seed-file <file>", "file with the Ed25519 private key in hex")
    .action(async ({ user, seedFile, ...options }: CallOptions & { user: number; seedFile: string }) => {
      const { readSeedFile } = await import("../client/key-files.ts");
      const body = { private_key: readSeedFile(seedFile), fid: user };
      const client = await openClient(context, options);
      const response = await client.call("importManagedSigner", { body });
      print(options.json ? responseJson(response) : recordTable(memberOf(response, "signer"), "masked"));
    });

  withSignerOptions(
    signer
      .command("approve")
      .description("approve a managed signer by its approval URL, as the page in a browser does")
      .argument("<url>"),
  ).action(async (url: string, options: SignerOptions) => {
    const { approveSigner } = await import("./approve-signer.ts");
    const { signer: by } = await openSigner(context, options);
    const { status, hash } = await approveSigner(url, by);
    print(`${status}, fid ${options.fid}, message ${printable(hash)}\n`);
  });

  signer
    .command("rekey")
    .description("seal all keys under signers.encryption_key now; a running node does the same by itself")
    .action(() => rekeyState(context));
}

interface ListedSigner {
  readonly signer_uuid: unknown;
  readonly status: unknown;
}

/** Prints all pages of the list. */
export async function listSigners(
  client: ManagementClient,
  fields: Fields,
  { json }: CallOptions,
): Promise<void> {
  const signers = await allSigners(client, fields);
  print(json ? responseJson({ signers }) : recordsTable(signers, LIST_FIELDS, "masked"));
}

/** Erases one signer, or all signers of the fid. */
export async function deleteSigners(
  client: ManagementClient,
  { signer_uuid: id }: Fields,
  { all }: CallOptions & { readonly all?: boolean },
): Promise<void> {
  if ((id === undefined) === !all) throw new UserError("give either a signer_uuid or --all");
  const ids = id === undefined ? (await allSigners(client, {})).map(({ signer_uuid }) => signer_uuid) : [id];
  for (const each of ids) await deleteSigner(client, String(each));
}

async function allSigners(client: ManagementClient, { fid }: Fields): Promise<readonly ListedSigner[]> {
  const signers: ListedSigner[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query = {
      limit: PAGE,
      ...(cursor === "" ? {} : { cursor }),
      ...(fid === undefined ? {} : { fid: String(fid) }),
    };
    const page = (await client.call("listManagedSigners", { query })) as {
      signers: ListedSigner[];
      next: { cursor: string | null };
    };
    signers.push(...page.signers);
    cursor = page.next.cursor;
  }
  return signers;
}

/** Erases a signer. Reports keys that stay on chain, where only their users can remove them. */
async function deleteSigner(client: ManagementClient, id: string): Promise<void> {
  const { signer } = (await client.call("getManagedSigner", { query: { signer_uuid: id } })) as {
    signer: { status: string; fid: number | null; public_key: string };
  };
  const { removal } = (await client.call("deleteManagedSigner", { query: { signer_uuid: id } })) as {
    removal: string | null;
  };
  const staysOnChain = signer.status === "approved" && removal === null;
  const rest = staysOnChain
    ? `; its key ${printable(signer.public_key)} stays on chain until fid ${signer.fid} removes it`
    : "";
  print(
    `deleted ${printable(id)}${removal === null ? "" : `, key removed by ${printable(removal)}`}${rest}\n`,
  );
}

async function rekeyState(context: CommandContext): Promise<void> {
  const { createCommon, runTask } = await import("../common.ts");
  const { masterKeysOf, sealedUses } = await import("../../node/signers/master-keys.ts");
  const { resealTokenKeys } = await import("../../sign-in/tokens/token-signer.ts");
  const { createNoticeStore } = await import("../../notices/store/notice-store.ts");
  const { resealNotices } = await import("../../notices/target.ts");
  const { createSignInKeys } = await import("../../sign-in/tokens/key-store.ts");
  const { createSealer } = await import("../../vault/sealer.ts");
  const { postgresSettings } = await import("../../node/state/postgres/postgres-settings.ts");
  const { createVault } = await import("../../signers/vault.ts");
  const { rekey } = await import("../../signers/vault.ts");
  const { createSigners } = await import("../../signers/store/signer-table.ts");
  const common = createCommon(context);
  const { config, shutdown, log } = common;
  const [current, ...former] = masterKeysOf(config);
  if (!current) throw new UserError("there is no master key: set signers.encryption_key");
  const vault = createVault([current, ...former]);
  const run = async (state: StateDb) => {
    const store = createSigners(state);
    const onDamaged = (signerUuid: string, err: unknown) =>
      log.error({ signerUuid, err }, "A key could not be opened");
    const signers = await rekey({ store, vault, signal: shutdown.signal, onDamaged });
    const sealer = createSealer([current, ...former], "svc quick auth key 1");
    const noticeSealer = createSealer([current, ...former], "svc notice 1");
    const count =
      signers +
      (await resealTokenKeys(createSignInKeys(state), sealer)) +
      (await resealNotices(createNoticeStore(state), noticeSealer));
    const left = (await sealedUses(state)).filter(({ keyId }) => keyId !== vault.keyId);
    const rest = left.map(({ keyId, count }) => `${count} under ${keyId}`).join(", ");
    print(`sealed ${count} keys under ${vault.keyId}; left: ${rest || "none"}\n`);
  };
  context.exitCode = await runTask(common, async () => {
    const settings = postgresSettings(config);
    if (settings) {
      const { onPostgresState } = await import("../state/state.ts");
      const { postgresTaskDb } = await import("../../db/postgres/state-db.ts");
      const { nodesWithoutMasterKey } = await import("../../cluster/postgres/work-lease.ts");
      return onPostgresState(settings, common, async (pool) => {
        const without = await nodesWithoutMasterKey(pool, vault.keyId);
        if (without.length > 0)
          throw new UserError(
            `these nodes do not have the master key ${vault.keyId} and could no longer sign: ${without.join(", ")}`,
          );
        await run(postgresTaskDb(pool));
      });
    }
    const { openTaskDataDir } = await import("../common.ts");
    const { openState, statePath } = await import("../../db/state/database.ts");
    const { taskStateDb } = await import("../../db/state/sqlite-state-db.ts");
    const dataDir = openTaskDataDir(common);
    using db = openState(statePath(dataDir.path), { mayCreate: false });
    await run(taskStateDb(db));
  });
}
