{
  description = "svc: a Farcaster node that serves reads, signed management, mini-app push and webhooks";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-25.11";

  # `bun run release --download-url …` creates release.json: version, URL and hash of each archive.
  outputs =
    { self, nixpkgs }:
    let
      release = builtins.fromJSON (builtins.readFile ./release.json);
      systems = builtins.attrNames release.archives;
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system} system);
    in
    {
      packages = each (
        pkgs: system: {
          default = pkgs.stdenv.mkDerivation {
            pname = "svc";
            version = release.version;
            src = pkgs.fetchurl { inherit (release.archives.${system}) url hash; };
            # strip would remove the code that is appended to the program. Its only path that NixOS lacks is the loader.
            dontStrip = true;
            dontPatchELF = true;
            nativeBuildInputs = pkgs.lib.optional pkgs.stdenv.isLinux pkgs.patchelf;
            installPhase = ''
              install -Dm755 svc $out/bin/svc
              ${pkgs.lib.optionalString pkgs.stdenv.isLinux ''
                patchelf --set-interpreter ${pkgs.stdenv.cc.bintools.dynamicLinker} $out/bin/svc
              ''}
              install -Dm644 svc.1 $out/share/man/man1/svc.1
              install -Dm644 completions/svc.bash $out/share/bash-completion/completions/svc
              install -Dm644 completions/_svc $out/share/zsh/site-functions/_svc
              install -Dm644 completions/svc.fish $out/share/fish/vendor_completions.d/svc.fish
            '';
            meta = {
              mainProgram = "svc";
              license = pkgs.lib.licenses.mit;
              platforms = systems;
            };
          };
        }
      );

      nixosModules.default = import ./module.nix self;
    };
}
