import { Command, Option } from "commander";
import { EXIT_OK } from "../lib/failure.ts";
import { leftOut, programName, version } from "../version.ts";
import { registerDatabaseTask, registerPlaceTask } from "./child-tasks.ts";
import { registerConsole } from "./client/console.ts";
import { registerHealthcheck } from "./client/healthcheck.ts";
import { registerManifest } from "./client/manifest.ts";
import { registerMcp } from "./client/mcp.ts";
import { registerQuickAuth } from "./client/quick-auth.ts";
import { registerSign } from "./client/sign.ts";
import { registerConfig } from "./config.ts";
import { type CommandContext, collect, flagsOf } from "./context.ts";
import { registerBackup, registerRestore } from "./database/backup.ts";
import { registerChannels } from "./database/channels.ts";
import { registerIndex } from "./database/compact.ts";
import { registerMigrate } from "./database/migrate.ts";
import { registerExport } from "./database/records/export.ts";
import { registerImport } from "./database/records/import.ts";
import { registerScores } from "./database/scores.ts";
import { registerSnapshot } from "./database/snapshot.ts";
import { registerTokens } from "./database/tokens.ts";
import { registerUpstream } from "./database/upstream.ts";
import { registerVerify } from "./database/verify.ts";
import { registerDemo, registerDemoClient } from "./demo.ts";
import { registerDoctor } from "./doctor/doctor.ts";
import { registerInit } from "./init/init.ts";
import { registerListen } from "./listen/listen.ts";
import { registerOpenApi } from "./openapi.ts";
import { registerBans } from "./operations/bans.ts";
import { registerOperations } from "./operations/operations.ts";
import { registerSigner } from "./operations/signer.ts";
import { flushOutput, print, printError } from "./output.ts";
import { registerReplayApp } from "./replay-app/replay-app.ts";
import { registerServe } from "./serve.ts";
import { commandName, withCommandName } from "./shell/command-name.ts";
import { registerCompletion } from "./shell/completion.ts";
import { addExamples } from "./shell/examples.ts";
import { registerIncidents } from "./state/incidents.ts";
import { registerNodes } from "./state/nodes.ts";
import { registerNotices } from "./state/notices.ts";
import { registerState } from "./state/state.ts";
import { toExit } from "./to-exit.ts";
import { registerVersion } from "./version.ts";

type Register = (program: Command, context: CommandContext) => void;

/**
 * Registers the commands, by the headings of the help. Each imports its dependencies when it runs, so that help and version stay fast.
 */
const COMMANDS: readonly (readonly [heading: string, registers: readonly Register[]])[] = [
  [
    "Run a node:",
    [registerServe, registerInit, registerDoctor, registerConfig, registerConsole, registerHealthcheck],
  ],
  [
    "Data of a node:",
    [
      registerImport,
      registerExport,
      registerMigrate,
      registerVerify,
      registerIndex,
      registerUpstream,
      registerChannels,
      ...(leftOut.includes("scores") ? [] : [registerScores]),
      registerBackup,
      registerRestore,
      registerSnapshot,
    ],
  ],
  [
    "State of a node, or of nodes that share it:",
    [registerState, registerNodes, registerIncidents, registerNotices, registerTokens, registerQuickAuth],
  ],
  [
    "Signed calls to any node:",
    [registerOperations, registerManifest, registerSigner, registerBans, registerSign],
  ],
  [
    "Develop an app:",
    [
      registerDemo,
      registerDemoClient,
      registerListen,
      registerReplayApp,
      ...(leftOut.includes("mcp") ? [] : [registerMcp]),
      registerOpenApi,
    ],
  ],
  [
    "This program:",
    [
      registerCompletion,
      registerVersion,
      (program) => void program.helpCommand(true),
      registerDatabaseTask,
      registerPlaceTask,
    ],
  ],
];

/**
 * Runs the command line.
 *
 * @param args the arguments after the program's name.
 * @returns the exit code; the caller ends the process with it.
 */
export async function runProgram(args: readonly string[]): Promise<number> {
  const { program, context } = createProgram();
  try {
    await program.parseAsync(args, { from: "user" });
    return context.exitCode;
  } catch (fault) {
    const { exitCode, message } = toExit(fault);
    if (message !== "") printError(withCommandName(message));
    return exitCode;
  } finally {
    await flushOutput();
  }
}

/** Creates the command line with all its commands. A command sets the context's exit code. */
export function createProgram(): { readonly program: Command; readonly context: CommandContext } {
  const program = createRoot();
  const context: CommandContext = { exitCode: EXIT_OK, flags: () => flagsOf(program) };
  for (const [heading, registers] of COMMANDS) {
    program.commandsGroup(heading);
    for (const register of registers) register(program, context);
  }
  addExamples(program);
  return { program, context };
}

function createRoot(): Command {
  return (
    new Command(commandName)
      .description(
        "Serves the API of a Farcaster app from local indexes: reads, writes, mini-app push and webhooks.",
      )
      .version(`${programName} ${version}`, "-V, --version", "print the version")
      .option("-c, --config <file>", "read settings from this TOML file (SVC_CONFIG_FILE)")
      .option("--data-dir <dir>", "directory of all data (data.dir, SVC_DATA_DIR)")
      .option("--host <host>", "address of the HTTP interface (http.host, SVC_HTTP_HOST)")
      .option("--port <port>", "port of the HTTP interface (http.port, SVC_HTTP_PORT)")
      .option("--log-level <level>", "minimum level of log lines (log.level, SVC_LOG_LEVEL)")
      .option("--log-format <format>", "json or pretty (log.format, SVC_LOG_FORMAT)")
      .addOption(
        new Option("--set <section.key=value>", "set any setting; may be repeated")
          .argParser(collect)
          .default([], "none"),
      )
      .configureOutput({
        writeOut: (text) => print(withCommandName(text)),
        writeErr: (text) => printError(withCommandName(text)),
      })
      .showHelpAfterError("(--help lists the commands and options)")
      // A library that ends the process would prevent flushing; runProgram returns the exit code.
      .exitOverride()
  );
}
