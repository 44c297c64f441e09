/** If two patterns match a text, the first one counts. */
export const STEPS: Readonly<Record<string, string>> = {
  // What the system says.
  "EACCES: permission denied, {}": "EACCES: keine Berechtigung, {}",
  "EPERM: operation not permitted, {}": "EPERM: nicht erlaubt, {}",
  "ENOSPC: no space left on device, {}": "ENOSPC: kein Platz mehr auf der Festplatte, {}",
  "EDQUOT: disk quota exceeded, {}": "EDQUOT: das Kontingent der Festplatte ist erschöpft, {}",
  "EROFS: read-only file system, {}": "EROFS: das Dateisystem ist schreibgeschützt, {}",
  "EIO: i/o error, {}": "EIO: Ein- oder Ausgabefehler, {}",
  "ENOENT: no such file or directory, {}": "ENOENT: keine solche Datei und kein solches Verzeichnis, {}",
  "ENOTDIR: not a directory, {}": "ENOTDIR: kein Verzeichnis, {}",
  "EISDIR: illegal operation on a directory, {}": "EISDIR: bei einem Verzeichnis nicht möglich, {}",
  "EEXIST: file already exists, {}": "EEXIST: die Datei gibt es schon, {}",
  "EBUSY: resource busy or locked, {}": "EBUSY: in Gebrauch oder gesperrt, {}",
  "EMFILE: too many open files, {}": "EMFILE: zu viele offene Dateien, {}",
  "ENFILE: file table overflow, {}": "ENFILE: zu viele offene Dateien auf dem Rechner, {}",
  "ENOMEM: not enough memory, {}": "ENOMEM: zu wenig Arbeitsspeicher, {}",
  "EAGAIN: resource temporarily unavailable, {}": "EAGAIN: vorübergehend nicht verfügbar, {}",
  "EADDRINUSE: address already in use, {}": "EADDRINUSE: die Adresse ist in Gebrauch, {}",
  "EADDRNOTAVAIL: address not available, {}": "EADDRNOTAVAIL: die Adresse gibt es hier nicht, {}",
  "unable to open database file": "die Datenbankdatei lässt sich nicht öffnen",
  "file is not a database": "die Datei ist keine Datenbank",
  "database disk image is malformed": "die Datenbank ist beschädigt",
  "database or disk is full": "die Datenbank oder die Festplatte ist voll",
  "database is locked": "die Datenbank ist gesperrt",
  "attempt to write a readonly database": "die Datenbank ist schreibgeschützt",
  "disk I/O error": "Ein- oder Ausgabefehler der Festplatte",

  // What it costs.
  "{} messages of {} fids, estimated from {}": "{} Nachrichten von {} fids, geschätzt aus {}",
  "{} messages of {} fids": "{} Nachrichten von {} fids",
  "all of them": "allen",
  "the whole file": "der ganzen Datei",
  "{} records of the file": "{} Datensätzen der Datei",
  "index: {}; {} of free space while it is filled": "Index: {}; {} freier Platz beim Füllen",
  "time: about {} on {} {}, every signature verified": "Zeit: etwa {} auf {} {}, jede Signatur wird geprüft",
  core: "Kern",
  cores: "Kernen",
  "memory: up to {} while it is filled": "Arbeitsspeicher: bis zu {} beim Füllen",
  "calls: {} for each fid and more for its further pages, {} ms each, with upstream.concurrency = {}: {} of that time":
    "Aufrufe: {} je fid und mehr für ihre weiteren Seiten, je {} ms, mit upstream.concurrency = {}: davon {}",
  "the whole network: {}": "das ganze Netz braucht {}",
  "instead: {}": "stattdessen: {}",
  "more: the profiles of others that they mention": "dazu: die Profile anderer, die sie erwähnen",
  "the followed node, if it is your own, too: {}": "der Quellknoten, wenn auch er deiner ist, braucht {}",
  "free: {} MB for {}, which is TOO LITTLE": "frei: {} MB für {}, das ist ZU WENIG",
  "free: {} MB for {}": "frei: {} MB für {}",
  "The demo network takes 4 MB of disk, up to 200 MB of memory and 2 seconds.":
    "Das Demo-Netz braucht 4 MB Festplatte, bis zu 200 MB Arbeitsspeicher und 2 Sekunden.",

  // Why a step failed.
  "name the node to follow": "Nenne den Knoten, dem gefolgt wird",
  "{} has a section [{}] already": "{} hat schon einen Abschnitt [{}]",
  "the node may not write {}: {}": "Der Knoten darf {} nicht schreiben: {}",
  "{} already exists: move it away, and check again":
    "{} gibt es schon: Verschiebe die Datei, und prüfe erneut",
  "{} already exists": "{} gibt es schon",
  "the node is up and waits to be set up": "der Knoten läuft und wartet darauf, eingerichtet zu werden",
  "a unit serves no demo network: run `{} serve --demo`":
    "Ein Dienst von systemd bedient kein Demo-Netz: Führe `{} serve --demo` aus",
  "the settings changed since they were shown: check again":
    "Die Einstellungen haben sich geändert, seit sie gezeigt wurden: Prüfe erneut",
  "{} has no records of Farcaster that can be read": "{} hat keine lesbaren Datensätze von Farcaster",
  "no such file: {}": "Es gibt keine solche Datei: {}",
  "not a regular file: {}": "Keine gewöhnliche Datei: {}",
  "{} is a database, or the lock of one": "{} ist eine Datenbank oder die Sperre einer solchen",
  "larger than {} bytes": "größer als {} Byte",
  "{} would be larger than 1 MiB; follow fewer fids, or all with --all":
    "{} wäre größer als 1 MiB; folge weniger fids oder allen",
  "names {}, which is not a regular file": "nennt {}, und das ist keine gewöhnliche Datei",
  "names {}, which does not exist": "nennt {}, und diese Datei gibt es nicht",
  "names {}, where line {} has something that is not an fid":
    "nennt {}, wo in Zeile {} etwas steht, das keine fid ist",
  "names {}, which has no fids": "nennt {}, und darin steht keine fid",
  "1 setting is wrong:": "1 Einstellung ist falsch:",
  "{} settings are wrong:": "{} Einstellungen sind falsch:",
  "  {}: must be {}, got {} ({})": "  {}: muss {} sein, war {} ({})",

  // Why a node cannot be followed.
  "the upstream {} cannot be queried: {}": "Der Knoten {} lässt sich nicht abfragen: {}",
  "it did not respond to everything within {} s": "er hat nicht innerhalb von {} s auf alles geantwortet",
  "connect ECONNREFUSED {}": "keine Verbindung zu {} (ECONNREFUSED)",
  "connect ETIMEDOUT {}": "keine Verbindung zu {} (ETIMEDOUT)",
  "connect EHOSTUNREACH {}": "keine Verbindung zu {} (EHOSTUNREACH)",
  "connect ENETUNREACH {}": "keine Verbindung zu {} (ENETUNREACH)",
  "the name {} is not known to DNS": "Der Name {} ist dem DNS nicht bekannt",
  "upstream.url does not lead to a Farcaster node that can be followed: {}":
    "upstream.url führt zu keinem Farcaster-Knoten, dem gefolgt werden kann: {}",
  "it responds with HTTP status {} and not with gRPC; {}":
    "Er antwortet mit dem HTTP-Status {} und nicht mit gRPC; {}",
  "it responds with HTTP and not with gRPC; {}": "Er antwortet mit HTTP und nicht mit gRPC; {}",
  "it does not respond (GetInfo timed out); {}": "Er antwortet nicht (Zeitüberschreitung bei GetInfo); {}",
  "it does not support HTTP/2, which gRPC needs; {}": "Er kann kein HTTP/2, das gRPC braucht; {}",
  "it requires a login for {} (UNAUTHENTICATED); reads are sent without one":
    "Er verlangt für {} eine Anmeldung (UNAUTHENTICATED); Abfragen werden ohne gesendet",
  "it supports gRPC but serves no HubService (GetInfo is unimplemented); {}":
    "Er kann gRPC, bietet aber keinen HubService an (GetInfo fehlt); {}",
  "it does not serve GetBlocks, the source of keys and lends":
    "Er bietet GetBlocks nicht an, woraus Schlüssel und Leihen kommen",
  "it does not serve {}": "Er bietet {} nicht an",
  "the gRPC port of a node is 3383 unless its operator chose another":
    "der gRPC-Port eines Knotens ist 3383, wenn sein Betreiber keinen anderen gewählt hat",
  "it follows only some fids (its setting upstream.fids)":
    "Er folgt nur einigen fids (seine Einstellung upstream.fids)",
  "it reports {} shards": "Er meldet {} Shards",
  "its messages are of {}, and protocol.network is {}":
    "Seine Nachrichten sind aus {}, und protocol.network ist {}",
  "network {}": "Netz {}",
  "the upstream lists {} fids but reports {} registrations":
    "der Knoten nennt {} fids und meldet {} Registrierungen",
  "its blocks are of another network": "Seine Blöcke sind aus einem anderen Netz",
  "a list of it has not ended after {} pages": "Eine seiner Listen war nach {} Seiten nicht zu Ende",
  "it lists more than {} fids, and reports {}": "Er nennt mehr als {} fids und meldet {}",
  "the messages of fid {} do not end": "die Nachrichten von fid {} nehmen kein Ende",
  "the upstream counts {} fids, and has none of those drawn":
    "der Knoten zählt {} fids und hat keine der gezogenen",
  "the list of the followers of fid {} did not end after {} pages":
    "die Liste derer, die fid {} folgen, war nach {} Seiten nicht zu Ende",
  "no user follows fid {}, as far as the upstream knows": "Niemand folgt fid {}, soweit der Knoten weiß",
  "the upstream has no cast in the channel {}; give its name or its parent URL":
    "Der Knoten hat keinen Cast im Kanal {}; nenne seinen Namen oder seine Parent-URL",
  "{} more {} than a list of fids can hold ({}). Follow everyone with --all, or make a list of those that matter and name it with --fid-file":
    "{} mehr {}, als eine Liste von fids fasst ({}). Folge allen, oder stelle eine Liste derer zusammen, auf die es ankommt, und nenne ihre Datei",
  "fid {} has": "fid {} hat",
  "the channel {} has": "der Kanal {} hat",
  followers: "Follower",
  authors: "Autoren",
};
