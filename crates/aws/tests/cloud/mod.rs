//! How the tests reach a cloud, and make a table there.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::Credentials;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType,
    Projection as DynamoProjection, ProjectionType, ScalarAttributeType,
};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use onsale_aws::AwsConfig;
use onsale_table::{Index, Projection, Schema};

pub(crate) fn config(http: SharedHttpClient, endpoint: &str) -> AwsConfig {
    AwsConfig {
        region: "eu-central-1".into(),
        credentials: Credentials::new("test", "test", None, None, "test"),
        endpoint: Some(endpoint.into()),
        links: None,
        http,
    }
}

/// MiniStack, when the test run has started it.
pub(crate) fn ministack_config() -> Option<AwsConfig> {
    let url = std::env::var("ONSALE_MINISTACK_URL").ok()?;
    let http = aws_smithy_http_client::Builder::new().build_http();
    Some(config(http, &url))
}

/// Creates a table of this shape, unless there is one of this name.
pub(crate) async fn create_table(client: &Client, name: &str, schema: &Schema) {
    let keys = schema.indexes.iter().flat_map(|index| [index.pk, index.sk]);
    let attributes = ["pk", "sk"].into_iter().chain(keys).map(text_attribute);
    let created = client
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .set_key_schema(Some(key_schema("pk", "sk")))
        .set_attribute_definitions(Some(attributes.collect()))
        .set_global_secondary_indexes(Some(schema.indexes.iter().map(index).collect()))
        .send()
        .await;
    if let Err(error) = created {
        let in_use = error
            .as_service_error()
            .is_some_and(|e| e.is_resource_in_use_exception());
        assert!(in_use, "the table cannot be created: {error:?}");
    }
}

fn text_attribute(name: &str) -> AttributeDefinition {
    AttributeDefinition::builder()
        .attribute_name(name)
        .attribute_type(ScalarAttributeType::S)
        .build()
        .unwrap()
}

fn key_schema(pk: &str, sk: &str) -> Vec<KeySchemaElement> {
    let element = |(name, kind)| {
        let element = KeySchemaElement::builder().attribute_name(name);
        element.key_type(kind).build().unwrap()
    };
    [(pk, KeyType::Hash), (sk, KeyType::Range)]
        .map(element)
        .to_vec()
}

fn index(index: &Index) -> GlobalSecondaryIndex {
    let projection = match index.projection {
        Projection::Keys => ProjectionType::KeysOnly,
        Projection::All => ProjectionType::All,
    };
    let projection = DynamoProjection::builder().projection_type(projection);
    GlobalSecondaryIndex::builder()
        .index_name(index.name)
        .set_key_schema(Some(key_schema(index.pk, index.sk)))
        .projection(projection.build())
        .build()
        .unwrap()
}
