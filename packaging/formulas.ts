import { version } from "../src/version.ts";

/** The archives of a release. */
export interface ReleasedArchive {
  /** URL of the folder that contains the release. */
  readonly downloadUrl: string;
  /** SHA-256 of the archives in hex, by target. */
  readonly hashes: ReadonlyMap<string, string>;
}

const NIX_SYSTEMS: Readonly<Record<string, string>> = {
  "linux-x64": "x86_64-linux",
  "linux-arm64": "aarch64-linux",
  "darwin-x64": "x86_64-darwin",
  "darwin-arm64": "aarch64-darwin",
};

const urlOf = (downloadUrl: string, target: string) =>
  `${downloadUrl.replace(/\/+$/, "")}/svc-${version}-${target}.tar.gz`;

/** Returns `release.json`, which the flake in packaging/nix reads. */
export function nixRelease({ downloadUrl, hashes }: ReleasedArchive): string {
  const archives = Object.fromEntries(
    Object.entries(NIX_SYSTEMS).flatMap(([target, system]) => {
      const hash = hashes.get(target);
      if (hash === undefined) return [];
      const sri = `sha256-${Buffer.from(hash, "hex").toString("base64")}`;
      return [[system, { url: urlOf(downloadUrl, target), hash: sri }]];
    }),
  );
  return `${JSON.stringify({ version, archives }, null, 2)}\n`;
}

/** Returns the Homebrew formula, for a tap of the maintainer. */
export function brewFormula({ downloadUrl, hashes }: ReleasedArchive, homepage: string): string {
  const block = (system: "macos" | "linux", targets: Readonly<Record<"arm" | "intel", string>>) => {
    const inner = (["arm", "intel"] as const).flatMap((cpu) => {
      const hash = hashes.get(targets[cpu]);
      if (hash === undefined) return [];
      return [
        `    on_${cpu} do`,
        `      url ${quoted(urlOf(downloadUrl, targets[cpu]))}`,
        `      sha256 ${quoted(hash)}`,
        "    end",
      ];
    });
    return inner.length === 0 ? [] : [`  on_${system} do`, ...inner, "  end", ""];
  };
  return [
    "class Svc < Formula",
    '  desc "Farcaster node with reads, signed management, mini-app push and webhooks"',
    `  homepage ${quoted(homepage)}`,
    `  version ${quoted(version)}`,
    '  license "MIT"',
    "",
    ...block("macos", { arm: "darwin-arm64", intel: "darwin-x64" }),
    ...block("linux", { arm: "linux-arm64", intel: "linux-x64" }),
    "  def install",
    '    bin.install "svc"',
    '    man1.install "svc.1"',
    '    bash_completion.install "completions/svc.bash" => "svc"',
    '    zsh_completion.install "completions/_svc"',
    '    fish_completion.install "completions/svc.fish"',
    "  end",
    "",
    "  service do",
    '    run [opt_bin/"svc", "serve", "--migrate"]',
    '    environment_variables SVC_DATA_DIR: var/"svc"',
    "    keep_alive crashed: true",
    '    log_path var/"log/svc.log"',
    '    error_log_path var/"log/svc.log"',
    "  end",
    "",
    "  test do",
    '    assert_match version.to_s, shell_output("#{bin}/svc version")',
    "  end",
    "end",
    "",
  ].join("\n");
}

/** Quotes a Ruby string. Throws for text that Ruby would interpolate. */
function quoted(text: string): string {
  if (/["\\#\n]/.test(text)) throw new Error(`not a plain text: ${text}`);
  return `"${text}"`;
}
