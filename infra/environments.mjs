// What differs between the environments: the defaults that template.yaml's parameters get.
// Everything else is the same definition. Domains and names are those of edge-worker/wrangler.toml.
//
// No value in here is a secret. Secrets live in Secrets Manager, under names that follow from the
// environment and the parameter. Public keys are handed over when deploying.

const secrets = ["Session", "Ticket", "Quote", "Reset", "Internal", "Fan", "Work", "Payment"];

const secretsOf = (environment) =>
  Object.fromEntries(secrets.map((name) => [`${name}SecretName`, `onsale/${environment}/${name.toLowerCase()}`]));

export const environments = {
  dev: {
    ...secretsOf("dev"),
    DomainName: "dev.tickets.example",
    MailSender: "Onsale dev <tickets@dev.tickets.example>",
    PaymentProvider: "sandbox",
    LogRetentionDays: 7,
    LogLevel: "info",
  },
  staging: {
    ...secretsOf("staging"),
    DomainName: "staging.tickets.example",
    MailSender: "Onsale staging <tickets@staging.tickets.example>",
    // With the keys of Stripe's test mode.
    PaymentProvider: "stripe",
    LogRetentionDays: 14,
    AlarmEmail: "staging-alarms@tickets.example",
  },
  prod: {
    ...secretsOf("prod"),
    DomainName: "tickets.example",
    MailSender: "Onsale <tickets@tickets.example>",
    PaymentProvider: "stripe",
    LogRetentionDays: 90,
    AlarmEmail: "alarms@tickets.example",
    // A thousand holds and two hundred orders of two seats a second, and a third more.
    // docs/OPERATIONS.md has the arithmetic. The indexes need no more than they have.
    WarmWriteUnits: 13000,
    WarmReadUnits: 24000,
  },
};

export const stackName = (environment) => `onsale-${environment}`;
