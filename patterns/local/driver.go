package local

import _ "modernc.org/sqlite" // the driver of the state file
