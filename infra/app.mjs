// `npm run synth` writes every environment to target/cdk.out;
// `npm run deploy -- onsale-dev --parameters …` deploys one. See docs/OPERATIONS.md.
import { App, DefaultStackSynthesizer } from "aws-cdk-lib";
import { environments, stackName } from "./environments.mjs";
import { OnsaleStack } from "./onsale-stack.mjs";

// cfn-lint and SAM check the file itself; the CDK's own check does not know the transform.
const app = new App({ analyticsReporting: false, builtinCloudFormationValidation: false });
for (const [environment, values] of Object.entries(environments)) {
  new OnsaleStack(app, stackName(environment), {
    values,
    stackName: stackName(environment),
    // Without it, the stack would get a parameter that the template does not have.
    synthesizer: new DefaultStackSynthesizer({ generateBootstrapVersionRule: false }),
    terminationProtection: environment === "prod",
    tags: { application: "onsale", environment },
  });
}
