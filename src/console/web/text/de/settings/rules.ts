export const RULES: Readonly<Record<string, string>> = {
  "true or false": "true oder false",
  "an integer from {} to {}": "eine ganze Zahl von {} bis {}",
  "a number from {} to {}": "eine Zahl von {} bis {}",
  "one of {}": "einer der Werte {}",
  "a lower-case letter, then up to {} lower-case letters or digits":
    "ein Kleinbuchstabe, dann bis zu {} Kleinbuchstaben oder Ziffern",
  "a list of at most {} different names, each a lower-case letter, then up to {} lower-case letters or digits":
    "eine Liste mit höchstens {} verschiedenen Namen, jeder ein Kleinbuchstabe, dann bis zu {} Kleinbuchstaben oder Ziffern",
  'empty or a URL such as "https://host.example" or "https://host.example/path", without query and slash at the end':
    'leer oder eine URL wie "https://host.example" oder "https://host.example/path", ohne Query und ohne Schrägstrich am Ende',
  "empty or a lower-case letter or digit, then up to {} lower-case letters, digits, dots or hyphens":
    "leer oder ein Kleinbuchstabe oder eine Ziffer, dann bis zu {} Kleinbuchstaben, Ziffern, Punkte oder Bindestriche",
  "a path of {} to {} characters without control characters":
    "ein Pfad mit {} bis {} Zeichen ohne Steuerzeichen",
  "empty or a path of at most {} characters without control characters":
    "leer oder ein Pfad mit höchstens {} Zeichen ohne Steuerzeichen",
  "at most {} characters without control characters": "höchstens {} Zeichen ohne Steuerzeichen",
  'empty or a URL such as "postgres://user@host:5432/database?sslmode=verify-full"':
    'leer oder eine URL wie "postgres://user@host:5432/database?sslmode=verify-full"',
  'a lower-case letter or "_", then up to {} lower-case letters, digits or "_", but not "pg_" at the start':
    'ein Kleinbuchstabe oder "_", dann bis zu {} Kleinbuchstaben, Ziffern oder "_", aber nicht "pg_" am Anfang',
  "an IP address or a host name": "eine IP-Adresse oder ein Hostname",
  'a list of at most {} entries, each "*" or an origin such as "https://app.example"':
    'eine Liste mit höchstens {} Einträgen, jeder "*" oder ein Origin wie "https://app.example"',
  'a list of at most {} networks such as "10.0.0.0/8"': 'eine Liste mit höchstens {} Netzen wie "10.0.0.0/8"',
  'empty or a URL such as "http://host:3383", without path, user and password, and with https by a host name':
    'leer oder eine URL wie "http://host:3383", ohne Pfad, Benutzer und Passwort, mit https über einen Hostnamen',
  'a list of at most {} different URLs such as "https://host:3383", each without path, user and password, and with https by a host name':
    'eine Liste mit höchstens {} verschiedenen URLs wie "https://host:3383", jede ohne Pfad, Benutzer und Passwort, mit https über einen Hostnamen',
  "at most {} printable ASCII characters without a colon":
    "höchstens {} druckbare ASCII-Zeichen ohne Doppelpunkt",
  "at most {} printable ASCII characters without parentheses":
    "höchstens {} druckbare ASCII-Zeichen ohne Klammern",
  "at most {} printable ASCII characters": "höchstens {} druckbare ASCII-Zeichen",
  "a list of at most {} fids, each a positive integer":
    "eine Liste mit höchstens {} fids, jede eine positive ganze Zahl",
  "a list of at most {} host names or IP addresses": "eine Liste mit höchstens {} Hostnamen oder IP-Adressen",
  'a list of at most {} entries such as "21=1790000000"':
    'eine Liste mit höchstens {} Einträgen wie "21=1790000000"',
  "empty or an http or https URL of at most {} characters":
    "leer oder eine http- oder https-URL mit höchstens {} Zeichen",
  "empty or an http or https URL": "leer oder eine http- oder https-URL",
  "a list of at most {} addresses": "eine Liste mit höchstens {} Adressen",
  "empty or {} hexadecimal digits": "leer oder {} Hexadezimalziffern",
  "a list of at most {} different keys, each of {} hexadecimal digits":
    "eine Liste mit höchstens {} verschiedenen Schlüsseln zu je {} Hexadezimalziffern",
  'a list of at most {} different entries, each a domain such as "app.example", or "*.example" for those below it':
    'eine Liste mit höchstens {} verschiedenen Einträgen, jeder eine Domain wie "app.example", oder "*.example" für die darunter',
  "empty or a URL such as s3://bucket/prefix": "leer oder eine URL wie s3://bucket/prefix",
  "{} to {} lower-case letters, digits and hyphens": "{} bis {} Kleinbuchstaben, Ziffern und Bindestriche",
  "empty or at most {} printable ASCII characters without spaces":
    "leer oder höchstens {} druckbare ASCII-Zeichen ohne Leerzeichen",
  'empty or a time of day in UTC such as "03:15"': 'leer oder eine Uhrzeit in UTC wie "03:15"',
  "empty or {} to {} printable ASCII characters without spaces":
    "leer oder {} bis {} druckbare ASCII-Zeichen ohne Leerzeichen",
  'a list of at most {} different ids of checks such as "disk_fills_up"':
    'eine Liste mit höchstens {} verschiedenen Ids von Prüfungen wie "disk_fills_up"',
  'a list of at most {} different host names such as "fcm.googleapis.com" or "*.push.apple.com"':
    'eine Liste mit höchstens {} verschiedenen Hostnamen wie "fcm.googleapis.com" oder "*.push.apple.com"',
  'empty, or a URL such as "mailto:ops@example.org"': 'leer oder eine URL wie "mailto:ops@example.org"',
  "a list of at most {} host names": "eine Liste mit höchstens {} Hostnamen",
  'a list of "webhooks", "sends", "search", "feeds", "fold"':
    'eine Liste aus "webhooks", "sends", "search", "feeds", "fold"',
  "a list of different names of tools": "eine Liste mit verschiedenen Namen von Werkzeugen",
  'empty or at most {} headers such as "api-key=KEY,tenant=NAME"':
    'leer oder höchstens {} Header wie "api-key=KEY,tenant=NAME"',
};
