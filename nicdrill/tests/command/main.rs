//! The command through its binary, as used by people, scripts and other monitors.

mod alert_rules;
mod annotated;
mod another_make;
mod budget;
mod captured;
mod checked;
mod ci_files;
mod compare;
mod configured;
mod confine;
mod explain_page;
mod first_monitor;
mod fit;
mod front_door;
mod full_disk;
mod groups;
mod help;
mod host_root;
mod hostile;
mod init;
mod installed;
mod interrupted;
mod isolation;
mod judged;
mod known;
mod labs_json;
mod leftovers;
mod listed;
mod lnet_import;
mod lnet_page;
mod made_up_vendor;
mod manners;
mod meant;
mod merged;
mod mpib_page;
mod omni_path_page;
mod other_kinds;
mod output_page;
mod page;
#[cfg(feature = "postgres")]
mod postgres;
mod probed;
mod processes;
mod profiles;
mod promises_page;
mod protobuf;
mod record;
mod repeated;
mod replay;
mod sandbox;
mod schema;
mod scratch;
mod staged;
mod store;
#[cfg(feature = "postgres")]
mod store_password;
#[cfg(feature = "postgres")]
mod store_server;
#[cfg(feature = "postgres")]
mod store_tls;
mod suite_check;
mod text_of_json;
mod told;
mod vendor;
mod whole;
mod words;
