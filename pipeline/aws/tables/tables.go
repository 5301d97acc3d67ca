// Package tables keeps what act must not lose in DynamoDB: receipts with the
// rows of the table sink, and how each run stands.
//
// Every read is strongly consistent. What must happen once is written under a
// condition.
package tables

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/internal/item"
)

// Client speaks to DynamoDB. It is safe for concurrent use.
type Client struct{ db *dynamodb.Client }

// Open makes a client.
func Open(region, endpoint string) *Client { return &Client{item.Open(region, endpoint)} }

// New is a client of tables behind a client of DynamoDB.
func New(db *dynamodb.Client) *Client { return &Client{db} }

var errMalformed = pipeline.StoreFailed.Error("tables: an item is malformed")
