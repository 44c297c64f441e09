self:
{
  config,
  lib,
  pkgs,
  ...
}:
let
  cfg = config.services.svc;
  format = pkgs.formats.toml { };
in
{
  options.services.svc = {
    enable = lib.mkEnableOption "the Farcaster node svc";
    package = lib.mkOption {
      type = lib.types.package;
      default = self.packages.${pkgs.stdenv.hostPlatform.system}.default;
      description = "The program.";
    };
    settings = lib.mkOption {
      type = format.type;
      default = { };
      example = { upstream.url = "http://snapchain.example:3383"; };
      description = "Settings that are no secrets, by section.";
    };
    environmentFile = lib.mkOption {
      type = lib.types.nullOr lib.types.path;
      default = null;
      description = "A file with secrets as variables, such as SVC_SIGNERS_ENCRYPTION_KEY.";
    };
  };

  config = lib.mkIf cfg.enable {
    environment.systemPackages = [ cfg.package ];
    users.users.svc = {
      isSystemUser = true;
      group = "svc";
      home = "/var/lib/svc";
    };
    users.groups.svc = { };
    systemd.services.svc = {
      description = "svc";
      after = [ "network-online.target" ];
      wants = [ "network-online.target" ];
      wantedBy = [ "multi-user.target" ];
      environment = {
        SVC_DATA_DIR = "/var/lib/svc";
        SVC_CONFIG_FILE = format.generate "svc.toml" cfg.settings;
      };
      # A test compares this with packaging/svc.service.
      serviceConfig = {
        ExecStart = "${lib.getExe cfg.package} serve --migrate";
        EnvironmentFile = lib.mkIf (cfg.environmentFile != null) cfg.environmentFile;
        Type = "notify";
        TimeoutStartSec = "infinity";
        WatchdogSec = "120";
        User = "svc";
        Group = "svc";
        StateDirectory = "svc";
        StateDirectoryMode = "0700";
        Restart = "on-failure";
        RestartSec = "2";
        RestartPreventExitStatus = "1";
        TimeoutStopSec = "30";
        LimitNOFILE = "65536";
        UMask = "0077";
        CapabilityBoundingSet = "";
        NoNewPrivileges = "yes";
        ProtectSystem = "strict";
        ProtectHome = "yes";
        PrivateTmp = "yes";
        PrivateDevices = "yes";
        ProtectClock = "yes";
        ProtectHostname = "yes";
        ProtectKernelLogs = "yes";
        ProtectKernelModules = "yes";
        ProtectKernelTunables = "yes";
        ProtectControlGroups = "yes";
        ProtectProc = "invisible";
        RestrictAddressFamilies = "AF_INET AF_INET6 AF_UNIX AF_NETLINK";
        RestrictNamespaces = "yes";
        RestrictRealtime = "yes";
        RestrictSUIDSGID = "yes";
        LockPersonality = "yes";
        RemoveIPC = "yes";
        KeyringMode = "private";
        SystemCallArchitectures = "native";
        SystemCallFilter = [ "@system-service" "~@privileged @resources" ];
        SystemCallErrorNumber = "EPERM";
      };
    };
  };
}
