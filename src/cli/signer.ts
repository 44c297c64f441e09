import type { Command } from "commander";
import { printable } from "../lib/printable.ts";
import type { CommandContext } from "./context.ts";
import { callAndPrint } from "./management-command.ts";
import {
  type CallOptions,
  openClient,
  parseFid,
  type SignerOptions,
  withCallOptions,
  withSignerOptions,
} from "./management-options.ts";
import { memberOf, recordsTable, recordTable } from "./management-table.ts";
import { print, printError } from "./output.ts";

const LIST_FIELDS = ["signer_uuid", "status", "fid", "app_fid", "public_key", "created_at"];
/** Signers that one request lists. */
const PAGE = "100";

/** `signer keygen|list|get|import|export|delete|approve|rekey`: the keys of users that a node keeps. */
export function registerSigner(program: Command, context: CommandContext): void {
  const signer = program
    .command("signer")
    .description("managed signers: keys of users that a node keeps, sealed, and signs with");

  signer
    .command("keygen")
    .description("print a new master key for signers.encryption_key")
    .action(async () => {
      const { createMasterKeyText, readMasterKey } = await import("../signers/master-key.ts");
      const key = createMasterKeyText();
      printError(
        `key id ${readMasterKey(key).keyId}. Keep a copy: with a lost key, no managed signer signs again.\n`,
      );
      print(`${key}\n`);
    });

  withCallOptions(signer.command("list").description("list the managed signers of the fid"))
    .option("--user <n>", "only those of this user; with the own fid those of all owners", parseFid)
    .action(async ({ user, ...options }: CallOptions & { user?: number }) => {
      const signers = await listAll(context, options, user);
      print(
        options.json
          ? `${JSON.stringify({ signers }, null, 2)}\n`
          : recordsTable(signers, LIST_FIELDS, "masked"),
      );
    });

  withCallOptions(
    signer.command("get").description("show one managed signer").argument("<signer_uuid>"),
  ).action(async (id: string, options: CallOptions) => {
    await callAndPrint(context, options, "getManagedSigner", { query: { signer_uuid: id } }, (response) =>
      recordTable(memberOf(response, "signer"), "masked"),
    );
  });

  withCallOptions(signer.command("import").description("have the node keep a key that is active for a user"))
    .requiredOption("--user <n>", "the user whose key it is", parseFid)
    .requiredOption("--seed-file <file>", "file with the Ed25519 private key in hex")
    .action(async ({ user, seedFile, ...options }: CallOptions & { user: number; seedFile: string }) => {
      const { readSeedFile } = await import("./client/seed-file.ts");
      const body = { private_key: readSeedFile(seedFile), fid: user };
      await callAndPrint(context, options, "importManagedSigner", { body }, (response) =>
        recordTable(memberOf(response, "signer"), "masked"),
      );
    });

  withCallOptions(
    signer
      .command("export")
      .description("print the private key of a managed signer; the rest goes to standard error")
      .argument("<signer_uuid>"),
  ).action(async (id: string, options: CallOptions) => {
    const client = await openClient(context, options);
    const exported = await client.call("exportManagedSigner", { body: { signer_uuid: id } });
    if (options.json) return print(`${JSON.stringify(exported, null, 2)}\n`);
    const { private_key, ...rest } = exported as Record<string, unknown>;
    printError(recordTable(rest, "masked"));
    print(`${printable(String(private_key))}\n`);
  });

  withCallOptions(
    signer
      .command("delete")
      .description("erase a managed signer; a gasless key also removes itself from the network")
      .argument("[signer_uuid]"),
  )
    .option("--all", "erase all managed signers of the fid")
    .action(async (id: string | undefined, options: CallOptions & { all?: boolean }) => {
      const { UserError } = await import("../lib/failure.ts");
      if ((id === undefined) === !options.all) throw new UserError("give either a signer_uuid or --all");
      if (id !== undefined) return deleteOne(context, options, id);
      for (const { signer_uuid } of await listAll(context, options))
        await deleteOne(context, options, String(signer_uuid));
    });

  withSignerOptions(
    signer
      .command("approve")
      .description("approve a managed signer by its approval URL, as the page in a browser does")
      .argument("<url>"),
  ).action(async (url: string, options: SignerOptions) => {
    const { openSigner } = await import("./management-options.ts");
    const { approveSigner } = await import("./client/approve-signer.ts");
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

async function listAll(
  context: CommandContext,
  options: CallOptions,
  user?: number,
): Promise<ListedSigner[]> {
  const client = await openClient(context, options);
  const signers: ListedSigner[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query = {
      limit: PAGE,
      ...(cursor === "" ? {} : { cursor }),
      ...(user ? { fid: String(user) } : {}),
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

/** Erases a signer. Says which keys stay on chain, where only their users can remove them. */
async function deleteOne(context: CommandContext, options: CallOptions, id: string): Promise<void> {
  const client = await openClient(context, options);
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
  const { createCommon, runTask } = await import("./common.ts");
  const { UserError } = await import("../lib/failure.ts");
  const { masterKeysOf } = await import("../node/signers/master-keys.ts");
  const { postgresSettings } = await import("../node/state/postgres-settings.ts");
  const { createVault } = await import("../signers/vault.ts");
  const { rekey } = await import("../signers/rekey.ts");
  const { createSigners } = await import("../signers/signer-table.ts");
  const common = createCommon(context);
  const { config, shutdown, log } = common;
  const [current, ...former] = masterKeysOf(config);
  if (!current) throw new UserError("there is no master key: set signers.encryption_key");
  const vault = createVault([current, ...former]);
  const run = async (store: Parameters<typeof rekey>[0]["store"]) => {
    const onDamaged = (signerUuid: string, err: unknown) =>
      log.error({ signerUuid, err }, "A key did not open");
    const count = await rekey({ store, vault, signal: shutdown.signal, onDamaged });
    const left = (await store.keyUses()).filter(({ keyId }) => keyId !== vault.keyId);
    const rest = left.map(({ keyId, count }) => `${count} under ${keyId}`).join(", ");
    print(`sealed ${count} keys under ${vault.keyId}; left: ${rest || "none"}\n`);
  };
  context.exitCode = await runTask(common, async () => {
    const settings = postgresSettings(config);
    if (settings) {
      const { onPostgresState } = await import("./postgres-state.ts");
      const { postgresTaskDb } = await import("../db/postgres/state-db.ts");
      const { nodesWithoutMasterKey } = await import("../cluster/postgres/reseal-lease.ts");
      return onPostgresState(settings, common, async (pool) => {
        const without = await nodesWithoutMasterKey(pool, vault.keyId);
        if (without.length > 0)
          throw new UserError(
            `these nodes do not have the master key ${vault.keyId} and could no longer sign: ${without.join(", ")}`,
          );
        await run(createSigners(postgresTaskDb(pool)));
      });
    }
    const { openTaskDataDir } = await import("./task-data-dir.ts");
    const { openState, statePath } = await import("../db/state/database.ts");
    const { taskStateDb } = await import("../db/state/sqlite-state-db.ts");
    const dataDir = openTaskDataDir(common);
    using db = openState(statePath(dataDir.path), { mayCreate: false });
    await run(createSigners(taskStateDb(db)));
  });
}
