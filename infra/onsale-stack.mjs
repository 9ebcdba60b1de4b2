// template.yaml as a stack of the CDK. The file is taken as it is, and its transform is left to
// CloudFormation; an environment only sets the defaults of parameters, and where the code is.
// CfnInclude cannot read it: the outputs name the function URLs that the transform makes.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Annotations, CfnElement, Stack } from "aws-cdk-lib";
import { Asset } from "aws-cdk-lib/aws-s3-assets";
import { readTemplate, root } from "./template.mjs";

// Where scripts/zips puts what it packs of a function.
const zipOf = ({ CodeUri }) => CodeUri.replace(/\/$/, ".zip");

// scripts/zips notes for whom it built. What the tests use is built for this machine, and stays here.
const isBuiltFor = (processor, codeRoot) => {
  const note = join(codeRoot, "target/lambda/processor");
  return existsSync(note) && readFileSync(note, "utf8").trim() === processor;
};

class Verbatim extends CfnElement {
  constructor(scope, id, template) {
    super(scope, id);
    this.template = template;
  }

  _toCloudFormation() {
    return this.template;
  }
}

export class OnsaleStack extends Stack {
  constructor(scope, id, { values, codeRoot = root, ...props }) {
    super(scope, id, props);
    // What the CDK says of a stack it takes from the stack itself.
    const { AWSTemplateFormatVersion: version, Transform: transform, Description, ...template } = readTemplate();
    this.templateOptions.templateFormatVersion = version;
    this.templateOptions.transforms = [transform];
    this.templateOptions.description = Description;
    for (const [name, value] of Object.entries(values)) {
      if (!(name in template.Parameters)) throw new Error(`template.yaml has no parameter ${name}`);
      template.Parameters[name].Default = value;
    }
    const processor = template.Parameters.Architecture.Default;
    const functions = Object.entries(template.Resources).filter(([, r]) => r.Type === "AWS::Serverless::Function");
    const missing = functions.filter(
      ([name, lambda]) => !isBuiltFor(processor, codeRoot) || !this.#upload(name, lambda.Properties, codeRoot),
    );
    if (missing.length > 0) {
      const zips = missing.map(([, lambda]) => zipOf(lambda.Properties)).join(", ");
      const how = `run scripts/zips ${processor}`;
      Annotations.of(this).addWarningV2("onsale:code", `not built, so not fit to be deployed, ${how}: ${zips}`);
    }
    new Verbatim(this, "Template", template);
  }

  // The very zip whose size was checked and whose bytes can be made again, not one of the CDK's own.
  #upload(name, properties, codeRoot) {
    const path = join(codeRoot, zipOf(properties));
    if (!existsSync(path)) return false;
    const asset = new Asset(this, `${name}Code`, { path });
    properties.CodeUri = { Bucket: asset.s3BucketName, Key: asset.s3ObjectKey };
    return true;
  }
}
