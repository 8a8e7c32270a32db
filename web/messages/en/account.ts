export const account = {
  'account.title': 'Account',
  'account.login': 'Login',
  'account.reading': 'Reading the account …',
  'account.why':
    'With an account there are models, web search and titles without a key of your own. Another provider needs no account.',
  'account.logIn': 'Log in',
  'account.logInAgain': 'Log in again',
  'account.keepLogin': 'Keep this login',
  'account.logOut': 'Log out',
  'account.stayLoggedIn': 'Stay logged in',
  'account.loggingOut': 'Logging out …',
  'account.logOutEffect': 'Logging out removes the models of the account and turns off remote control of this machine.',
  'account.region': 'Region',
  'account.requestingCode': 'Requesting a code …',

  'account.code': 'Code',
  'account.loginCode': 'Login code',
  'account.openLoginPage': 'Open the login page',
  'account.copyCode': 'Copy the code',
  'account.codeAt': ({ address }: { address: string }) => `Enter this code at ${address}:`,
  'account.validFor': ({ time }: { time: string }) => `Valid for ${time}`,
  'account.codeExpired': 'The code has expired; waiting …',

  'account.usage': 'Usage',
  'account.readUsageAgain': 'Read the usage again',
  'account.readingUsage': 'Reading the usage …',
  'account.used': ({ percent }: { percent: number }) => `${percent} % used`,
  'account.noLimits': 'The account has no limits.',
  'account.extraUsage': 'Extra usage',

  'account.user': 'User',
  'account.readUserAgain': 'Read the user again',
  'account.readingUser': 'Reading the user …',

  'account.titles': 'Titles of sessions',
  'account.titlesAllowed': 'Allow generating titles',
  'account.titlesAllowedHint':
    'A session then has “Generate title”. The service receives the beginnings of its messages.',
  'account.titlesAutomatic': 'Generate a title after the first turn',
  'account.titlesAutomaticHint': 'This page requests it when the first turn of a session has ended.',
} as const;
