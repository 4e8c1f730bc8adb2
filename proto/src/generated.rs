// @generated from proto/health_event.proto; tests/generated.rs says how it is written again.
/// One call of a monitor.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct HealthEvents {
    /// Version of the message; 1.
    #[prost(uint32, tag = "1")]
    pub version: u32,
    /// The events, in the order in which they must be applied.
    #[prost(message, repeated, tag = "2")]
    pub events: ::prost::alloc::vec::Vec<HealthEvent>,
}
/// A part of the node that an event is about.
#[derive(PartialOrd, Ord)]
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Entity {
    /// `NIC`, `NICPort`, `GPU` and so on.
    #[prost(string, tag = "1")]
    pub entity_type: ::prost::alloc::string::String,
    /// Its name within that type.
    #[prost(string, tag = "2")]
    pub entity_value: ::prost::alloc::string::String,
}
/// An event of a monitor about the node.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct HealthEvent {
    /// Version of the message; 1.
    #[prost(uint32, tag = "1")]
    pub version: u32,
    /// The monitor.
    #[prost(string, tag = "2")]
    pub agent: ::prost::alloc::string::String,
    /// The class of component, such as `NIC`.
    #[prost(string, tag = "3")]
    pub component_class: ::prost::alloc::string::String,
    /// The check that emitted it.
    #[prost(string, tag = "4")]
    pub check_name: ::prost::alloc::string::String,
    /// Whether the workload will fail because of it.
    #[prost(bool, tag = "5")]
    pub is_fatal: bool,
    /// Whether it is the end of a fault.
    #[prost(bool, tag = "6")]
    pub is_healthy: bool,
    /// The text for people.
    #[prost(string, tag = "7")]
    pub message: ::prost::alloc::string::String,
    /// The recommended action.
    #[prost(enumeration = "RecommendedAction", tag = "8")]
    pub recommended_action: i32,
    /// Codes that distinguish several faults of one entity.
    #[prost(string, repeated, tag = "9")]
    pub error_code: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    /// The parts that it is about.
    #[prost(message, repeated, tag = "10")]
    pub entities_impacted: ::prost::alloc::vec::Vec<Entity>,
    /// Anything else.
    #[prost(btree_map = "string, string", tag = "11")]
    pub metadata: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        ::prost::alloc::string::String,
    >,
    /// When the monitor found it, by its wall clock.
    #[prost(message, optional, tag = "12")]
    pub generated_timestamp: ::core::option::Option<::prost_types::Timestamp>,
    /// The node.
    #[prost(string, tag = "13")]
    pub node_name: ::prost::alloc::string::String,
    /// Overrides for the quarantine stage.
    #[prost(message, optional, tag = "14")]
    pub quarantine_overrides: ::core::option::Option<BehaviourOverrides>,
    /// Overrides for the drain stage.
    #[prost(message, optional, tag = "15")]
    pub drain_overrides: ::core::option::Option<BehaviourOverrides>,
    /// How far the event may act.
    #[prost(enumeration = "ProcessingStrategy", tag = "16")]
    pub processing_strategy: i32,
    /// Set by the store.
    #[prost(string, tag = "17")]
    pub id: ::prost::alloc::string::String,
    /// With RecommendedAction CUSTOM.
    #[prost(string, tag = "18")]
    pub custom_recommended_action: ::prost::alloc::string::String,
}
/// Force or skip a stage.
#[derive(PartialOrd, Ord)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct BehaviourOverrides {
    /// Do it whatever the rules say.
    #[prost(bool, tag = "1")]
    pub force: bool,
    /// Do not do it whatever the rules say.
    #[prost(bool, tag = "2")]
    pub skip: bool,
}
/// How an operation on the node went.
#[derive(PartialOrd, Ord)]
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct OperationStatus {
    /// Its state.
    #[prost(string, tag = "1")]
    pub status: ::prost::alloc::string::String,
    /// The text for people.
    #[prost(string, tag = "2")]
    pub message: ::prost::alloc::string::String,
}
/// What the cluster has done about an event.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct HealthEventStatus {
    /// State of the quarantine.
    #[prost(string, tag = "1")]
    pub node_quarantined: ::prost::alloc::string::String,
    /// Its end.
    #[prost(message, optional, tag = "2")]
    pub quarantine_finish_timestamp: ::core::option::Option<::prost_types::Timestamp>,
    /// State of the eviction of user pods.
    #[prost(message, optional, tag = "3")]
    pub user_pods_eviction_status: ::core::option::Option<OperationStatus>,
    /// End of the drain.
    #[prost(message, optional, tag = "4")]
    pub drain_finish_timestamp: ::core::option::Option<::prost_types::Timestamp>,
    /// Was the fault remediated?
    #[prost(message, optional, tag = "5")]
    pub fault_remediated: ::core::option::Option<bool>,
    /// When last.
    #[prost(message, optional, tag = "6")]
    pub last_remediation_timestamp: ::core::option::Option<::prost_types::Timestamp>,
    /// Trace spans by stage.
    #[prost(btree_map = "string, string", tag = "7")]
    pub span_ids: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        ::prost::alloc::string::String,
    >,
}
/// An event and what became of it, as stored.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct HealthEventWithStatus {
    /// When it was stored.
    #[prost(message, optional, tag = "1")]
    pub created_at: ::core::option::Option<::prost_types::Timestamp>,
    /// The event.
    #[prost(message, optional, tag = "2")]
    pub health_event: ::core::option::Option<HealthEvent>,
    /// What became of it.
    #[prost(message, optional, tag = "3")]
    pub health_event_status: ::core::option::Option<HealthEventStatus>,
}
/// An event as a cluster resource.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct HealthEventResource {
    /// The event.
    #[prost(message, optional, tag = "1")]
    pub spec: ::core::option::Option<HealthEvent>,
    /// What became of it.
    #[prost(message, optional, tag = "2")]
    pub status: ::core::option::Option<HealthEventStatus>,
}
/// Whether an event may affect the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::prost::Enumeration)]
#[repr(i32)]
pub enum ProcessingStrategy {
    /// The connector treats it as EXECUTE_REMEDIATION.
    Unspecified = 0,
    /// The event may affect the node.
    ExecuteRemediation = 1,
    /// The event is stored only.
    StoreOnly = 2,
    /// The event is stored and analysed only.
    StoreAndAnalyse = 3,
}
impl ProcessingStrategy {
    /// String value of the enum field names used in the ProtoBuf definition.
    ///
    /// The values are not transformed in any way and thus are considered stable
    /// (if the ProtoBuf definition does not change) and safe for programmatic use.
    pub fn as_str_name(&self) -> &'static str {
        match self {
            Self::Unspecified => "UNSPECIFIED",
            Self::ExecuteRemediation => "EXECUTE_REMEDIATION",
            Self::StoreOnly => "STORE_ONLY",
            Self::StoreAndAnalyse => "STORE_AND_ANALYSE",
        }
    }
    /// Creates an enum from field names used in the ProtoBuf definition.
    pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
        match value {
            "UNSPECIFIED" => Some(Self::Unspecified),
            "EXECUTE_REMEDIATION" => Some(Self::ExecuteRemediation),
            "STORE_ONLY" => Some(Self::StoreOnly),
            "STORE_AND_ANALYSE" => Some(Self::StoreAndAnalyse),
            _ => None,
        }
    }
}
/// The recommended action for the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::prost::Enumeration)]
#[repr(i32)]
pub enum RecommendedAction {
    /// No action.
    None = 0,
    /// Reset the component.
    ComponentReset = 2,
    /// Ask the vendor.
    ContactSupport = 5,
    /// Run the field diagnosis.
    RunFielddiag = 6,
    /// Restart the virtual machine.
    RestartVm = 15,
    /// Restart the bare metal machine.
    RestartBm = 24,
    /// Replace the virtual machine.
    ReplaceVm = 25,
    /// Run the DCGM end user diagnosis.
    RunDcgmeud = 26,
    /// Named in customRecommendedAction.
    Custom = 27,
    /// Not known.
    Unknown = 99,
}
impl RecommendedAction {
    /// String value of the enum field names used in the ProtoBuf definition.
    ///
    /// The values are not transformed in any way and thus are considered stable
    /// (if the ProtoBuf definition does not change) and safe for programmatic use.
    pub fn as_str_name(&self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::ComponentReset => "COMPONENT_RESET",
            Self::ContactSupport => "CONTACT_SUPPORT",
            Self::RunFielddiag => "RUN_FIELDDIAG",
            Self::RestartVm => "RESTART_VM",
            Self::RestartBm => "RESTART_BM",
            Self::ReplaceVm => "REPLACE_VM",
            Self::RunDcgmeud => "RUN_DCGMEUD",
            Self::Custom => "CUSTOM",
            Self::Unknown => "UNKNOWN",
        }
    }
    /// Creates an enum from field names used in the ProtoBuf definition.
    pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
        match value {
            "NONE" => Some(Self::None),
            "COMPONENT_RESET" => Some(Self::ComponentReset),
            "CONTACT_SUPPORT" => Some(Self::ContactSupport),
            "RUN_FIELDDIAG" => Some(Self::RunFielddiag),
            "RESTART_VM" => Some(Self::RestartVm),
            "RESTART_BM" => Some(Self::RestartBm),
            "REPLACE_VM" => Some(Self::ReplaceVm),
            "RUN_DCGMEUD" => Some(Self::RunDcgmeud),
            "CUSTOM" => Some(Self::Custom),
            "UNKNOWN" => Some(Self::Unknown),
            _ => None,
        }
    }
}
/// Generated client implementations.
#[cfg(feature = "rpc")]
pub mod platform_connector_client {
    #![allow(
        unused_variables,
        dead_code,
        missing_docs,
        clippy::wildcard_imports,
        clippy::let_unit_value,
    )]
    use tonic::codegen::*;
    use tonic::codegen::http::Uri;
    /// Receives the events of health monitors.
    #[derive(Debug, Clone)]
    pub struct PlatformConnectorClient<T> {
        inner: tonic::client::Grpc<T>,
    }
    impl PlatformConnectorClient<tonic::transport::Channel> {
        /// Attempt to create a new client by connecting to a given endpoint.
        pub async fn connect<D>(dst: D) -> Result<Self, tonic::transport::Error>
        where
            D: TryInto<tonic::transport::Endpoint>,
            D::Error: Into<StdError>,
        {
            let conn = tonic::transport::Endpoint::new(dst)?.connect().await?;
            Ok(Self::new(conn))
        }
    }
    impl<T> PlatformConnectorClient<T>
    where
        T: tonic::client::GrpcService<tonic::body::Body>,
        T::Error: Into<StdError>,
        T::ResponseBody: Body<Data = Bytes> + std::marker::Send + 'static,
        <T::ResponseBody as Body>::Error: Into<StdError> + std::marker::Send,
    {
        pub fn new(inner: T) -> Self {
            let inner = tonic::client::Grpc::new(inner);
            Self { inner }
        }
        pub fn with_origin(inner: T, origin: Uri) -> Self {
            let inner = tonic::client::Grpc::with_origin(inner, origin);
            Self { inner }
        }
        pub fn with_interceptor<F>(
            inner: T,
            interceptor: F,
        ) -> PlatformConnectorClient<InterceptedService<T, F>>
        where
            F: tonic::service::Interceptor,
            T::ResponseBody: Default,
            T: tonic::codegen::Service<
                http::Request<tonic::body::Body>,
                Response = http::Response<
                    <T as tonic::client::GrpcService<tonic::body::Body>>::ResponseBody,
                >,
            >,
            <T as tonic::codegen::Service<
                http::Request<tonic::body::Body>,
            >>::Error: Into<StdError> + std::marker::Send + std::marker::Sync,
        {
            PlatformConnectorClient::new(InterceptedService::new(inner, interceptor))
        }
        /// Compress requests with the given encoding.
        ///
        /// This requires the server to support it otherwise it might respond with an
        /// error.
        #[must_use]
        pub fn send_compressed(mut self, encoding: CompressionEncoding) -> Self {
            self.inner = self.inner.send_compressed(encoding);
            self
        }
        /// Enable decompressing responses.
        #[must_use]
        pub fn accept_compressed(mut self, encoding: CompressionEncoding) -> Self {
            self.inner = self.inner.accept_compressed(encoding);
            self
        }
        /// Limits the maximum size of a decoded message.
        ///
        /// Default: `4MB`
        #[must_use]
        pub fn max_decoding_message_size(mut self, limit: usize) -> Self {
            self.inner = self.inner.max_decoding_message_size(limit);
            self
        }
        /// Limits the maximum size of an encoded message.
        ///
        /// Default: `usize::MAX`
        #[must_use]
        pub fn max_encoding_message_size(mut self, limit: usize) -> Self {
            self.inner = self.inner.max_encoding_message_size(limit);
            self
        }
        /// One call per check and poll, with every event of that check.
        pub async fn health_event_occurred_v1(
            &mut self,
            request: impl tonic::IntoRequest<super::HealthEvents>,
        ) -> std::result::Result<tonic::Response<()>, tonic::Status> {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/datamodels.PlatformConnector/HealthEventOccurredV1",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(
                    GrpcMethod::new(
                        "datamodels.PlatformConnector",
                        "HealthEventOccurredV1",
                    ),
                );
            self.inner.unary(req, path, codec).await
        }
    }
}
/// Generated server implementations.
#[cfg(feature = "rpc")]
pub mod platform_connector_server {
    #![allow(
        unused_variables,
        dead_code,
        missing_docs,
        clippy::wildcard_imports,
        clippy::let_unit_value,
    )]
    use tonic::codegen::*;
    /// Generated trait containing gRPC methods that should be implemented for use with PlatformConnectorServer.
    #[async_trait]
    pub trait PlatformConnector: std::marker::Send + std::marker::Sync + 'static {
        /// One call per check and poll, with every event of that check.
        async fn health_event_occurred_v1(
            &self,
            request: tonic::Request<super::HealthEvents>,
        ) -> std::result::Result<tonic::Response<()>, tonic::Status>;
    }
    /// Receives the events of health monitors.
    #[derive(Debug)]
    pub struct PlatformConnectorServer<T> {
        inner: Arc<T>,
        accept_compression_encodings: EnabledCompressionEncodings,
        send_compression_encodings: EnabledCompressionEncodings,
        max_decoding_message_size: Option<usize>,
        max_encoding_message_size: Option<usize>,
    }
    impl<T> PlatformConnectorServer<T> {
        pub fn new(inner: T) -> Self {
            Self::from_arc(Arc::new(inner))
        }
        pub fn from_arc(inner: Arc<T>) -> Self {
            Self {
                inner,
                accept_compression_encodings: Default::default(),
                send_compression_encodings: Default::default(),
                max_decoding_message_size: None,
                max_encoding_message_size: None,
            }
        }
        pub fn with_interceptor<F>(
            inner: T,
            interceptor: F,
        ) -> InterceptedService<Self, F>
        where
            F: tonic::service::Interceptor,
        {
            InterceptedService::new(Self::new(inner), interceptor)
        }
        /// Enable decompressing requests with the given encoding.
        #[must_use]
        pub fn accept_compressed(mut self, encoding: CompressionEncoding) -> Self {
            self.accept_compression_encodings.enable(encoding);
            self
        }
        /// Compress responses with the given encoding, if the client supports it.
        #[must_use]
        pub fn send_compressed(mut self, encoding: CompressionEncoding) -> Self {
            self.send_compression_encodings.enable(encoding);
            self
        }
        /// Limits the maximum size of a decoded message.
        ///
        /// Default: `4MB`
        #[must_use]
        pub fn max_decoding_message_size(mut self, limit: usize) -> Self {
            self.max_decoding_message_size = Some(limit);
            self
        }
        /// Limits the maximum size of an encoded message.
        ///
        /// Default: `usize::MAX`
        #[must_use]
        pub fn max_encoding_message_size(mut self, limit: usize) -> Self {
            self.max_encoding_message_size = Some(limit);
            self
        }
    }
    impl<T, B> tonic::codegen::Service<http::Request<B>> for PlatformConnectorServer<T>
    where
        T: PlatformConnector,
        B: Body + std::marker::Send + 'static,
        B::Error: Into<StdError> + std::marker::Send + 'static,
    {
        type Response = http::Response<tonic::body::Body>;
        type Error = std::convert::Infallible;
        type Future = BoxFuture<Self::Response, Self::Error>;
        fn poll_ready(
            &mut self,
            _cx: &mut Context<'_>,
        ) -> Poll<std::result::Result<(), Self::Error>> {
            Poll::Ready(Ok(()))
        }
        fn call(&mut self, req: http::Request<B>) -> Self::Future {
            match req.uri().path() {
                "/datamodels.PlatformConnector/HealthEventOccurredV1" => {
                    #[allow(non_camel_case_types)]
                    struct HealthEventOccurredV1Svc<T: PlatformConnector>(pub Arc<T>);
                    impl<
                        T: PlatformConnector,
                    > tonic::server::UnaryService<super::HealthEvents>
                    for HealthEventOccurredV1Svc<T> {
                        type Response = ();
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::HealthEvents>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as PlatformConnector>::health_event_occurred_v1(
                                        &inner,
                                        request,
                                    )
                                    .await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = HealthEventOccurredV1Svc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                _ => {
                    Box::pin(async move {
                        let mut response = http::Response::new(
                            tonic::body::Body::default(),
                        );
                        let headers = response.headers_mut();
                        headers
                            .insert(
                                tonic::Status::GRPC_STATUS,
                                (tonic::Code::Unimplemented as i32).into(),
                            );
                        headers
                            .insert(
                                http::header::CONTENT_TYPE,
                                tonic::metadata::GRPC_CONTENT_TYPE,
                            );
                        Ok(response)
                    })
                }
            }
        }
    }
    impl<T> Clone for PlatformConnectorServer<T> {
        fn clone(&self) -> Self {
            let inner = self.inner.clone();
            Self {
                inner,
                accept_compression_encodings: self.accept_compression_encodings,
                send_compression_encodings: self.send_compression_encodings,
                max_decoding_message_size: self.max_decoding_message_size,
                max_encoding_message_size: self.max_encoding_message_size,
            }
        }
    }
    /// Generated gRPC service name
    pub const SERVICE_NAME: &str = "datamodels.PlatformConnector";
    impl<T> tonic::server::NamedService for PlatformConnectorServer<T> {
        const NAME: &'static str = SERVICE_NAME;
    }
}
