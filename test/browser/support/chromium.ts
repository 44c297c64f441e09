import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { installPackages } from "../../support/install-packages.ts";

/** A program that can be started. */
export interface Chromium {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

const GIVEN = "SVC_TEST_CHROMIUM";
/** The headless shell needs a third of the CPU time of a whole Chromium. */
const SHELLS = ["chromium-headless-shell", "chrome-headless-shell"];
const BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/** The package with a headless shell for linux-x64, and what that needs of the system. */
const PACKAGE = "@sparticuz/chromium";
const MANIFEST = join(import.meta.dir, "..");
const MODULES = join(MANIFEST, "node_modules");
const UNPACKED = join(MODULES, ".chromium");
const SKIPPED = "SVC_TEST_BROWSER_SKIPPED";

/** Whether tests in a browser can run. They are skipped where there is none; with `CI=true` that is an error. */
export async function hasChromium(): Promise<boolean> {
  const found = await findChromium();
  if ("path" in found) return true;
  if (process.env.CI === "true")
    throw new Error(`no Chromium: ${found.why}; set ${GIVEN} to test with another one`);
  if (!process.env[SKIPPED]) console.warn(`browser checks skipped: no Chromium (${found.why}; ${GIVEN})`);
  process.env[SKIPPED] = "1";
  return false;
}

/**
 * Returns the Chromium that SVC_TEST_CHROMIUM names, an installed headless shell, that of the package, or an installed browser; or
 * why there is none.
 */
export async function findChromium(): Promise<Chromium | { readonly why: string }> {
  const path = process.env[GIVEN] || firstOf(SHELLS);
  if (path) return { path, env: {} };
  const packaged = await packagedChromium();
  if ("path" in packaged) return packaged;
  const browser = firstOf(BROWSERS);
  return browser ? { path: browser, env: {} } : packaged;
}

const firstOf = (names: readonly string[]) =>
  names.map((name) => Bun.which(name)).find((found) => found !== null);

async function packagedChromium(): Promise<Chromium | { readonly why: string }> {
  if (process.platform !== "linux" || process.arch !== "x64")
    return { why: `none is installed, and there is no package for ${process.platform}-${process.arch}` };
  const failure = existsSync(join(MODULES, PACKAGE))
    ? undefined
    : await installPackages({ manifest: MANIFEST, into: MANIFEST, name: PACKAGE });
  if (failure !== undefined) return { why: `it cannot be installed: ${failure}` };
  if (!existsSync(UNPACKED)) await unpack();
  const path = join(UNPACKED, "chromium");
  const env = { LD_LIBRARY_PATH: join(UNPACKED, "lib"), FONTCONFIG_FILE: join(UNPACKED, "fonts.conf") };
  // It is built for glibc.
  if (Bun.spawnSync([path, "--version"], { env }).exitCode !== 0)
    return { why: "the packaged one does not start here" };
  return { path, env };
}

/** Unpacks aside and renames, because several test processes may do it at once. */
async function unpack(): Promise<void> {
  const bin = join(MODULES, PACKAGE, "bin");
  mkdirSync(MODULES, { recursive: true });
  const aside = mkdtempSync(`${UNPACKED}.`);
  const content = (name: string) => brotliDecompressSync(readFileSync(join(bin, name)));
  try {
    writeFileSync(join(aside, "chromium"), content("chromium.br"), { mode: 0o755 });
    for (const archive of ["al2023.tar.br", "fonts.tar.br", "swiftshader.tar.br"])
      await new Bun.Archive(content(archive)).extract(aside);
    const fonts = `<dir>${UNPACKED}/fonts</dir><dir>/usr/share/fonts</dir><cachedir>${UNPACKED}/fonts-cache</cachedir>`;
    writeFileSync(join(aside, "fonts.conf"), `<?xml version="1.0"?><fontconfig>${fonts}</fontconfig>\n`);
    renameSync(aside, UNPACKED);
  } catch (cause) {
    // Another process may have been first.
    if (!existsSync(UNPACKED)) throw cause;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}
