// Transfers files as its arguments say, and prints a line for each step.

import RxNetworking
import RxTransfers
